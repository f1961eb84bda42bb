"""Everything a page says around its story, in each of the site's languages."""

from dataclasses import dataclass, replace
from typing import Final

from crawler.demo_site.article import Article


@dataclass(frozen=True, slots=True)
class Labels:
    """The words of the frame. Tuples of two hold the wording for the two kinds of copy."""

    brand: str
    tagline: str
    home: str
    nav: tuple[tuple[str, str], ...]
    mobile_nav: tuple[str, ...]
    cookie: str
    accept: str
    newsletter: tuple[str, str, str]  # heading, text, button
    related: str
    most_read: str
    stamps: tuple[str, str]
    ad: str
    ads: tuple[tuple[str, str], ...]
    comments: str
    printed: str
    other_edition: str
    footer: tuple[str, str]
    wire_brand: str
    wire_note: str
    wire_nav: tuple[str, ...]
    weather: str


EN: Final = Labels(
    brand="The Harbour Post",
    tagline="Every tide, two languages, one front counter",
    home="/",
    nav=(
        ("/en/port/", "Port"),
        ("/en/city/", "City"),
        ("/en/weather/", "Weather"),
        ("/en/science/", "Science"),
        ("/en/food/", "Food"),
        ("/en/sport/", "Sport"),
        ("/en/culture/", "Culture"),
        ("/en/business/", "Business"),
        ("/en/living/", "Living"),
        ("/archive", "All pages"),
    ),
    mobile_nav=(
        "Births",
        "Boats for sale",
        "Bus times",
        "Choirs",
        "Crossword",
        "Deaths",
        "Ferry times",
        "Flats to let",
        "Funerals",
        "Gardening",
        "Horoscope",
        "Jobs",
        "Legal notices",
        "Letters",
        "Library",
        "Lost and found",
        "Marriages",
        "Moon",
        "Planning",
        "Radio",
        "Recipes",
        "Schools",
        "Ships expected",
        "Sudoku",
        "Sunset",
        "Tide times",
        "Trams",
        "Wanted",
    ),
    cookie="We keep one cookie, to remember that you have read this. It holds no name and goes "
    "stale after a month, like the other sort.",
    accept="Understood",
    newsletter=(
        "The morning letter",
        "Five stories and the tide, before seven, every day but Sunday.",
        "Send it to me",
    ),
    related="Read next",
    most_read="Most read",
    stamps=(
        "Updated 5 minutes ago · Read 1,204 times · 12 people are reading this now",
        "Updated 3 hours ago · Read 9,871 times · 340 people are reading this now",
    ),
    ad="Advertisement",
    ads=(
        ("Anchor Mattresses", "Sleep like ballast. Free delivery anywhere a van can turn round."),
        ("Tannery Bridge Optics", "Can't read this? Second pair half price until Easter."),
        ("Calder Paint", "Two coats, twelve winters. Ask for the colour called Weather."),
        ("Hallam Street Pianos", "Tuning, moving and, where kindness requires it, removal."),
        ("Gull & Sons Gutters", "We go up so that you don't have to. Estimates in pencil."),
        ("The Brewery Tap", "Quiz on Tuesdays, pie on Thursdays, silence on Sundays."),
    ),
    comments="Readers write",
    printed="Print this page",
    other_edition="Evening and regional editions",
    footer=(
        "The Harbour Post is printed on the fish quay and read as far as the rain reaches.",
        "Every page of this demonstration site is invented; so are its ships.",
    ),
    wire_brand="Inland Wire",
    wire_note="Shared between member papers of the wire. Reprint with the byline.",
    wire_nav=("Farms", "Waterways", "Markets", "Moor", "Letters", "About the co-operative"),
    weather="Mole 14°C · wind SW 4 · high water 16:06",
)

ZH: Final = Labels(
    brand="海港日报",
    tagline="看潮水，也看人间",
    home="/zh/",
    nav=(
        ("/zh/gangkou/", "港口"),
        ("/zh/chengshi/", "城市"),
        ("/zh/kexue/", "科学"),
        ("/zh/meishi/", "美食"),
        ("/zh/wenhua/", "文化"),
        ("/zh/tiyu/", "体育"),
        ("/zh/shenghuo/", "生活"),
        ("/archive", "全部页面"),
    ),
    mobile_nav=(
        "二手船",
        "车船时刻",
        "灯谜",
        "地铁",
        "房屋租赁",
        "公告",
        "广播",
        "合唱团",
        "婚庆",
        "集邮",
        "家政",
        "街道电话",
        "旧物",
        "猫狗",
        "棋谱",
        "日出日落",
        "失物",
        "书信",
        "天气",
        "图书馆",
        "物价",
        "戏单",
        "学堂",
        "寻人",
        "月相",
        "渔汛",
        "招工",
        "值班药房",
    ),
    cookie="本站只存一块小饼干，用来记住您看过这句话。里面没有姓名，一个月后自动作废。",
    accept="知道了",
    newsletter=("早潮信", "每天清晨七点以前，五条新闻加一张潮汐表，星期日休息。", "寄给我"),
    related="接着读",
    most_read="大家在看",
    stamps=(
        "5分钟前更新 · 阅读1204次 · 12人正在看",
        "3小时前更新 · 阅读9871次 · 340人正在看",
    ),
    ad="广告",
    ads=(
        ("铁锚床垫", "睡得像压舱石，全城免费送货上楼。"),
        ("石桥眼镜", "看不清这行字？第二副半价。"),
        ("望潮漆坊", "刷两遍，管十二个冬天。"),
        ("和声琴行", "调琴、搬琴，必要时劝人改学别的。"),
        ("燕子防水", "我们上房，您喝茶，估价不收钱。"),
        ("渡口酒馆", "周二猜谜，周四炖鱼，周日打烊。"),
    ),
    comments="读者来信",
    printed="打印本页",
    other_edition="晚版与分区版",
    footer=("海港日报在渔码头付印，雨下到哪里，就送到哪里。", "本演示站内容纯属虚构，船也是。"),
    wire_brand="内陆通讯社",
    wire_note="通讯社供稿，转载请署名。",
    wire_nav=("农事", "水路", "行情", "山野", "来函", "关于本社"),
    weather="防波堤 14℃ · 西南风四级 · 高潮 16:06",
)

ZH_HANT: Final = replace(
    ZH,
    brand="海港日報",
    tagline="看潮水，也看人間",
    nav=(("/zh/", "首頁"), ("/archive", "全部頁面")),
    cookie="本站只存一塊小餅乾，用來記住您看過這句話。裡面沒有姓名，一個月後自動作廢。",
    newsletter=("早潮信", "每天清晨七點以前，五條新聞加一張潮汐表，星期日休息。", "寄給我"),
    related="接著讀",
    most_read="大家在看",
    stamps=("5分鐘前更新 · 閱讀1204次", "3小時前更新 · 閱讀9871次"),
    ad="廣告",
    ads=(
        ("鐵錨床墊", "睡得像壓艙石，全城免費送貨上樓。"),
        ("石橋眼鏡", "看不清這行字？第二副半價。"),
    ),
    footer=("海港日報在漁碼頭付印，雨下到哪裡，就送到哪裡。", "本示範站內容純屬虛構，船也是。"),
    weather="防波堤 14℃ · 西南風四級 · 高潮 16:06",
)

JA: Final = replace(
    EN,
    brand="海港新聞",
    tagline="潮を読み、町を読む",
    home="/",
    nav=(("/ja/minato/asaichi", "港"), ("/", "English"), ("/archive", "全ページ")),
    cookie="この文を読んだことを覚えておくための小さな記録を一つだけ保存します。名前は含みません。",
    accept="分かりました",
    newsletter=("朝潮便", "日曜を除く毎朝七時までに、記事五本と潮見表をお届けします。", "申し込む"),
    related="次に読む",
    most_read="よく読まれています",
    stamps=("5分前に更新 · 閲覧1204回", "3時間前に更新 · 閲覧9871回"),
    ad="広告",
    ads=(
        ("いかり寝具", "底荷のように眠れます。配達は無料。"),
        ("橋のたもと眼鏡店", "この字が読めない方へ。二本目は半額。"),
    ),
    footer=("海港新聞は魚市場の隣で刷っています。", "この見本サイトの記事はすべて架空です。"),
    weather="突堤 14℃ · 南西の風 · 満潮 16:06",
)


def labels_for(lang: str) -> Labels:
    """The frame's words for a language tag."""
    match lang:
        case "zh":
            return ZH
        case "zh-Hant":
            return ZH_HANT
        case "ja":
            return JA
        case _:
            return EN


def labels_of(article: Article) -> Labels:
    """The frame's words for an article's language."""
    return labels_for(article.lang)
