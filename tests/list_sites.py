"""Sites made of lists: pages that share an introduction and differ in their rows alone."""

from __future__ import annotations

from random import Random

PAGES, TILES, JOBS = 20, 12, 10
LAYOUTS = ("cards", "table", "definitions", "list")
LANGUAGES = ("English", "Chinese")

_WORDS = {
    "English": [
        "amber",
        "arch",
        "barrel",
        "basil",
        "beacon",
        "birch",
        "bronze",
        "canvas",
        "cedar",
        "clover",
        "cobalt",
        "copper",
        "coral",
        "cotton",
        "crest",
        "delta",
        "ember",
        "fable",
        "falcon",
        "fern",
        "flint",
        "forest",
        "garnet",
        "ginger",
        "granite",
        "harbor",
        "hazel",
        "heron",
        "indigo",
        "iris",
        "ivory",
        "jasper",
        "juniper",
        "kelp",
        "lantern",
        "laurel",
        "lilac",
        "linen",
        "lotus",
        "maple",
        "marble",
        "meadow",
        "merlin",
        "mint",
        "nectar",
        "oak",
        "olive",
        "onyx",
        "opal",
        "orchid",
        "pearl",
        "pine",
        "plum",
        "quartz",
        "raven",
        "river",
        "rowan",
        "saffron",
        "sage",
        "sierra",
        "silver",
        "slate",
        "sparrow",
        "spruce",
        "stone",
        "tidal",
        "timber",
        "topaz",
        "tulip",
        "umber",
        "velvet",
        "violet",
        "walnut",
        "willow",
        "winter",
        "zephyr",
    ],
    "Chinese": [
        "琥珀",
        "拱门",
        "木桶",
        "罗勒",
        "灯塔",
        "白桦",
        "青铜",
        "帆布",
        "雪松",
        "三叶",
        "钴蓝",
        "红铜",
        "珊瑚",
        "棉布",
        "山峰",
        "河口",
        "余烬",
        "寓言",
        "猎鹰",
        "蕨草",
        "燧石",
        "森林",
        "石榴",
        "生姜",
        "花岗",
        "港湾",
        "榛子",
        "苍鹭",
        "靛蓝",
        "鸢尾",
        "象牙",
        "碧玉",
        "杜松",
        "海带",
        "灯笼",
        "月桂",
        "丁香",
        "亚麻",
        "莲花",
        "枫叶",
        "大理",
        "草地",
        "薄荷",
        "花蜜",
        "橡木",
        "橄榄",
        "玛瑙",
        "蛋白",
        "兰花",
        "珍珠",
        "松树",
        "李子",
    ],
}
_INTRODUCTIONS = {
    "English": """Everything in our shop is made by hand in small workshops that we know and visit
        every year. We choose our makers for the care they take, and we pay them fairly and on time.
        Orders that reach us before noon leave the same day, and parcels travel without plastic. If
        anything is not as you hoped, send it back within thirty days and we refund the whole price,
        no questions asked. Each piece differs a little from the next in colour and grain, which is
        how you can tell that no machine made it. Members collect points with every order and hear
        of new pieces first. Write to us whenever you have a question: three of us answer letters
        all day long, and we are glad of every one. Gift wrapping is free, and so is a card with a
        few lines of yours in our best handwriting, if you tell us what to write.""",
    "Chinese": """本店的每一件商品都由我们熟悉并且每年走访的小作坊手工制作。我们看重匠人的用心,
        并且按时支付公平的报酬。中午以前收到的订单当天发出,包裹不用任何塑料。如果您对商品不满意,三十天内
        可以退回,我们全额退款,不问理由。每一件的颜色和纹理都略有不同,由此可知它们不是机器所造。会员每次
        下单都能累积积分,并且最先得知新品。有任何问题都可以写信给我们,三位同事整天回复来信,每一封都让我们
        高兴。礼品包装免费,还可以附上一张写有您的祝福的卡片。""",
}


def introduction(language: str) -> str:
    return " ".join(_INTRODUCTIONS[language].split())


def names(kind: str, page: int, rows: int, language: str) -> list[str]:
    """What the rows of a page are called: other names on every page."""
    random = Random(f"{kind} {page} {language}")
    joiner = " " if language == "English" else ""
    return [joiner.join(random.sample(_WORDS[language], 3)) for _ in range(rows)]


def shop(page: int, layout: str, language: str) -> str:
    """A category of the shop: the shop's introduction, and twelve linked tiles."""
    tiles = names("shop", page, TILES, language)
    return _page(f"<p>{introduction(language)}</p>{_rows(tiles, layout)}", language)


def jobs(page: int, layout: str, language: str) -> str:
    """A page of a job list: three paragraphs and ten linked rows."""
    text = introduction(language)
    third = len(text) // 3
    paragraphs = "".join(f"<p>{text[i * third : (i + 1) * third]}</p>" for i in range(3))
    return _page(f"{paragraphs}{_rows(names('job', page, JOBS, language), layout)}", language)


def _rows(rows: list[str], layout: str) -> str:
    links = [f'<a href="/item/{place}">{name}</a>' for place, name in enumerate(rows)]
    before, row, after = {
        "cards": ('<div class="grid">', '<div class="card"><h3>{}</h3></div>', "</div>"),
        "table": ("<table>", "<tr><td>{}</td><td>new</td></tr>", "</table>"),
        "definitions": ("<dl>", "<dt>{}</dt><dd>new</dd>", "</dl>"),
        "list": ("<ul>", "<li>{}</li>", "</ul>"),
    }[layout]
    return before + "".join(map(row.format, links)) + after


def _page(main: str, language: str) -> str:
    menu = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in _WORDS[language][:8])
    return (
        f"<html><head><title>The shop</title></head><body><nav><ul>{menu}</ul></nav>"
        f"<main><h1>The shop</h1>{main}</main><footer>Est. 1987</footer></body></html>"
    )
