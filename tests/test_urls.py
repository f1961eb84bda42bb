"""Which URLs are one declared address."""

from __future__ import annotations

import time

import pytest

from simhash_pipeline.urls import address_of, is_tracking, page_key, place_id

STORY = "https://paper.example.org/news/story"


def declared(url: str) -> bytes:
    return address_of(page_key(url), None)


@pytest.mark.parametrize(
    "url",
    [
        "http://paper.example.org/news/story",
        "https://www.paper.example.org/news/story",
        "http://www2.paper.example.org/news/story",
        "https://paper.example.org/news/story/",
        "https://paper.example.org/news/story//",
        "https://paper.example.org/news/story/index.html",
        "https://paper.example.org/news/story/Index.htm",
        "https://paper.example.org/news/story/index.php",
        "https://paper.example.org/news/story/default.aspx",
        "http://paper.example.org:80/news/story",
        "https://paper.example.org:443/news/story",
        "https://paper.example.org/news/story;jsessionid=A1B2C3.node1",
        "https://paper.example.org/news/story;JSESSIONID=A1B2?utm_id=1",
        "https://paper.example.org/(S(lit3py55t21z5v55vlm25s55))/news/story",
        "https://PAPER.example.org/news/story#comments",
        "https://paper.example.org/news/story?",
        "http://www.paper.example.org:80/news/story/index.html?gclid=x",
    ],
)
def test_a_spelling_makes_no_other_address(url: str) -> None:
    assert declared(url) == declared(STORY)


KEYS = """utm_source UTM_Medium utm_whatever gclid gclsrc gbraid wbraid dclid gad_source
gad_campaignid
fbclid msclkid yclid ysclid yadclid twclid ttclid irclickid rb_clickid srsltid igshid igsh
li_fat_id epik _openstat erid mc_cid mc_eid mkt_tok _hsenc _hsmi __hstc __hssc __hsfp hsa_cam
hsCtaTracking vero_id oly_enc_id oly_anon_id ml_subscriber ml_subscriber_hash dm_i _ke _kx
mtm_campaign pk_kwd piwik_campaign matomo_source at_medium at_campaign at_custom1 ns_campaign
cm_mmc wt_zmc s_cid s_kwcid ef_id cmpid xtor ICID ncid ocid intcmp int_cmp itm_source guccounter
guce_referrer guce_referrer_sig _ga _gl ref_src ref_url fb_action_ids fb_source fb_ref
__twitter_impression spm spm_id_from scm vd_source chksm isappinstalled share_source
share_medium tblci dicbo smid pr_rec_id pr_ref_pid pr_prod_strat snrai_campaign _sgm_source
PHPSESSID jsessionid ASPSESSIONIDQQ sessionid session_id sessid cfid cftoken osCsid zenid"""


@pytest.mark.parametrize("key", KEYS.split())
def test_a_tracking_key_makes_no_other_address(key: str) -> None:
    assert is_tracking(key)
    assert declared(f"{STORY}?{key}=Ab-3_x") == declared(STORY)
    assert declared(f"{STORY}?amp;{key}=x&id=7") == declared(f"{STORY}?id=7")


def test_a_session_is_known_by_its_value() -> None:
    session = "0123456789abcdef0123456789abcdef"
    assert declared(f"{STORY}?sid={session}&t=3") == declared(f"{STORY}?t=3")
    assert declared(f"{STORY}?s={session}") == declared(STORY)
    assert declared(f"{STORY}?sid=17") != declared(STORY)


KEPT = "id p page q s sid t v lang type ref source date cat category tag pid cid sku color from"
KEPT += " at_id cm_id ns_id pk_id share_id wt_id"  # of records


@pytest.mark.parametrize("key", KEPT.split())
def test_a_key_that_may_name_a_page_counts(key: str) -> None:
    assert not is_tracking(key)
    assert declared(f"{STORY}?{key}=2") != declared(f"{STORY}?{key}=3")


@pytest.mark.parametrize(
    "url",
    [
        "https://paper.example.org/news",
        "https://paper.example.org/news/story/2",
        "https://paper.example.org/news/story.html",
        "https://paper.example.org/news/story/indexes.html",
        "https://paper.example.org/news/index.html/story",
        "https://paper.example.org:8080/news/story",
        "https://m.paper.example.org/news/story",
        "https://paper.example.org/news/story;page=2",
        "https://paper.example.org/News/Story",
    ],
)
def test_another_place_is_another_address(url: str) -> None:
    assert declared(url) != declared(STORY)


def test_the_key_by_which_a_store_knows_a_page_stays_as_it_is() -> None:
    for url in (f"{STORY}/", f"{STORY}?utm_source=x", "http://www.paper.example.org/news/story"):
        assert page_key(url) == url


def test_an_address_is_found_in_linear_time() -> None:
    started = time.process_time()
    for piece in (
        "/",
        "//index.html",
        ";sid=",
        ";sess",
        "www.",
        "(s(",
        "_utm_",
        "&clickid",
        "&s=0f",
    ):
        long = piece * (90_000 // len(piece))
        address_of(f"https://a.example/{long}x?{long}x", None)
    assert time.process_time() - started < 2


def test_a_route_begins_where_the_fragment_does() -> None:
    assert page_key("https://a.example/#/story/7") == "https://a.example/#/story/7"
    assert page_key("https://a.example/##/0") == "https://a.example/"


def test_few_urls_are_of_one_place() -> None:
    """A store finds by it all pages of the place: nobody may make many."""
    place = "http://www.a.example:80/b/index.html"
    assert place_id(place) == place_id("https://a.example/b") == place_id("https://a.example/b//")
    many = [
        "b///",
        "b////",
        "b;sid=1",
        "b;sid=2",
        "b?utm_source=1",
        "(s(abcdefghijklmnopqrstuvwx))/b",
    ]
    assert len({place_id(f"https://a.example/{one}") for one in ["b", *many]}) == 7
    ports = [f"a{one}/b{two}/c" for one in ("", ":80", ":443") for two in ("", ":80", ":443")]
    cases = ["b/inDex.html", "b/indeX.html", "b/index.Html", "b/INDEX.html", "b/index.hTml"]
    assert len({place_id(f"https://a.example/{one}") for one in [*ports, *cases]}) == 14
