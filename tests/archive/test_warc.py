from __future__ import annotations

import base64
import dataclasses
import gzip
import io
import re
import sys
import zlib
from itertools import islice
from pathlib import Path

import brotli
import pytest
from warcio.warcwriter import WARCWriter

from simhash_pipeline.archive import Fault, Page, Skipped
from simhash_pipeline.archive.warc import WarcFile
from simhash_pipeline.errors import ArchiveError
from tests.archive.archives import PAGES, html, response, warc_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

URLS = [page["url"] for page in PAGES]


def warc(folder: Path, data: bytes) -> WarcFile:
    path = folder / "crawl.warc.gz"
    path.write_bytes(data)
    return WarcFile(path)


def records(archive: WarcFile) -> list[Page | Fault | Skipped]:
    return [record for record, _ in archive.read()]


def urls(archive: WarcFile) -> list[str]:
    return [record.source.url for record in records(archive) if isinstance(record, Page)]


@pytest.mark.parametrize("is_compressed", [True, False])
def test_a_response_is_a_page_with_its_url_time_and_bytes(
    tmp_path: Path, is_compressed: bool
) -> None:
    body = html("港口").encode("gbk")
    data = response(
        "http://a.example/1?x=1",
        body,
        content_type="text/html;charset=GBK",
        is_compressed=is_compressed,
    )
    (found,) = records(warc(tmp_path, data))
    assert isinstance(found, Page)
    assert found.source.html == body
    assert found.source.url == "http://a.example/1?x=1"
    assert found.source.charset == "gb18030"
    assert found.time == 1767323045  # 2026-01-02T03:04:05Z


@pytest.mark.parametrize(
    ("encoding", "encode"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_a_payload_is_read_as_the_browser_would(
    tmp_path: Path, encoding: str, encode: object
) -> None:
    assert callable(encode)
    packed = encode(html("story").encode())
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    headers = [("Content-Encoding", encoding), ("Transfer-Encoding", "chunked")]
    (found,) = records(warc(tmp_path, response("http://a.example/", chunked, headers=headers)))
    assert isinstance(found, Page)
    assert found.source.html == html("story").encode()


def test_a_response_without_its_url_is_a_fault_that_says_so(tmp_path: Path) -> None:
    data = response("http://a.example/1", html("x"), is_compressed=False)
    data = re.sub(rb"WARC-Target-URI: .*\r\n", b"", data)
    found, other = records(warc(tmp_path, data + warc_of(PAGES[:1], is_compressed=False)))
    assert found == Fault("no_url", "it has no WARC-Target-URI", "byte 0")
    assert isinstance(other, Page)


BODY = html("story " * 40).encode()


def chunked(body: bytes) -> bytes:
    parts = [body[at : at + 100] for at in range(0, len(body), 100)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def raw_deflated(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def test_the_body_is_read_whatever_it_is_packed_with(tmp_path: Path) -> None:
    gz, br = gzip.compress(BODY), brotli.compress(BODY)
    packed: list[tuple[bytes, dict[str, str]]] = [
        (chunked(BODY), {"Transfer-Encoding": "Chunked"}),
        (chunked(BODY), {"transfer-encoding": "CHUNKED "}),
        (chunked(gz), {"Transfer-Encoding": "gzip, chunked"}),
        (chunked(gz), {"Transfer-Encoding": "Chunked", "Content-Encoding": "GZIP"}),
        (BODY, {"Transfer-Encoding": "chunked"}),  # an archive of decoded bodies
        (gz, {"Content-Encoding": "x-gzip"}),
        (gz, {"Content-Encoding": "gzip, identity"}),
        (gzip.compress(gz), {"Content-Encoding": "gzip, gzip"}),
        (gzip.compress(gz), {"Content-Encoding": "gzip", "content-encoding": "gzip"}),
        (gzip.compress(BODY[:50]) + gzip.compress(BODY[50:]), {"Content-Encoding": "gzip"}),
        (gz + b"\0\0", {"Content-Encoding": "gzip"}),
        (BODY, {"Content-Encoding": "gzip"}),
        (zlib.compress(BODY), {"Content-Encoding": "deflate"}),
        (raw_deflated(BODY), {"Content-Encoding": "deflate"}),
        (br, {"Content-Encoding": "br"}),
        (chunked(br), {"Content-Encoding": "Br", "Transfer-Encoding": "Chunked"}),
        (gzip.compress(br), {"Content-Encoding": "br, gzip"}),
        (BODY, {"Content-Encoding": "br"}),
        (zstd.compress(BODY), {"Content-Encoding": "zstd"}),
        (zstd.compress(BODY[:50]) + zstd.compress(BODY[50:]), {"Content-Encoding": "zstd"}),
        (BODY, {"Content-Encoding": "zstd"}),
        (BODY, {"Content-Encoding": "utf-8"}),
        (BODY, {"Content-Encoding": "none"}),
    ]
    for body, headers in packed:
        data = response("http://a.example/", body, headers=[*headers.items()])
        (found,) = records(warc(tmp_path, data))
        assert isinstance(found, Page), headers
        assert found.source.html == BODY, headers


def test_a_body_that_is_cut_short_is_read_up_to_there(tmp_path: Path) -> None:
    noise = "".join(map(chr, range(300, 3_000))).encode()
    packs = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}
    for coding, pack in packs.items():
        body = pack(BODY + noise * 3)
        headers = [("Content-Encoding", coding)]
        data = response("http://a.example/", body[: len(body) - 40], headers=headers)
        (found,) = records(warc(tmp_path, data))
        assert isinstance(found, Page), coding
        assert bytes(found.source.html).startswith(BODY), coding  # type: ignore[arg-type]


def test_a_page_whose_type_says_nothing_is_known_by_its_text(tmp_path: Path) -> None:
    """As a crawl knows it."""
    kinds = {
        "": BODY,
        "application/octet-stream": b"\n<!DOCTYPE HTML><p>A story.",
        "*/*": b"<!-- x --><HTML>A story.",
        "application/unknown": BODY,
        "text/html, text/html": BODY,
        "Text/HTML;charset=utf-8": BODY,
        "application/vnd.wap.xhtml+xml": BODY,
    }
    for number, (kind, body) in enumerate(kinds.items()):
        url = f"http://a.example/{number}"
        assert urls(warc(tmp_path, response(url, body, content_type=kind))) == [url], kind
    untyped = response("http://a.example/", BODY, content_type="", is_compressed=False)
    untyped = untyped.replace(b"Content-Type: \r\n", b"X-Kind: none\r\n")
    assert urls(warc(tmp_path, untyped)) == ["http://a.example/"]
    for kind, body in {"": b"{}", "*/*": b"\x89PNG", "text/plain": BODY, "text/css": b""}.items():
        data = response("http://a.example/", body, content_type=kind)
        assert urls(warc(tmp_path, data)) == [], kind


def resource(url: str, body: bytes, content_type: str) -> bytes:
    """As warcit and wget's converters write it: no HTTP header."""
    file = io.BytesIO()
    writer = WARCWriter(file, gzip=True)
    record = writer.create_warc_record(
        url, "resource", payload=io.BytesIO(body), warc_content_type=content_type
    )
    writer.write_record(record)
    return file.getvalue()


def test_a_resource_of_html_is_a_page(tmp_path: Path) -> None:
    polish = "<p>Rybacy wrócili do portu o świcie."
    data = b"".join(
        [
            resource("http://a.example/1", BODY, "text/html"),
            resource("http://a.example/2", polish.encode("latin2"), "Text/html; charset=latin2"),
            resource("http://a.example/3", BODY, "application/xhtml+xml"),
            resource("http://a.example/4", BODY, "application/octet-stream"),
            resource("http://a.example/6.png", b"\x89PNG", "image/png"),
            resource("http://a.example/7", BODY, "text/plain"),
        ]
    )
    archive = warc(tmp_path, data)
    assert urls(archive) == [f"http://a.example/{n}" for n in range(1, 5)]
    second = records(archive)[1]
    assert isinstance(second, Page)
    assert second.source.charset == "iso8859-2"


def test_what_is_no_page_is_skipped_by_its_kind(tmp_path: Path) -> None:
    data = b"".join(
        [
            response("http://a.example/1.png", b"\x89PNG", content_type="image/png"),
            response("http://a.example/gone", html("gone"), status="404 Not Found"),
            response("http://a.example/moved", "", status="301 Moved"),
            response("http://a.example/seen", "", rec_type="revisit"),
            response("http://a.example/x", html("x"), content_type="application/xhtml+xml"),
        ]
    )
    found = records(warc(tmp_path, data))
    kinds = [record.kind for record in found if isinstance(record, Skipped)]
    assert kinds == ["image/png", "status 404", "status 301", "revisit"]
    assert urls(warc(tmp_path, data)) == ["http://a.example/x"]


def test_a_page_without_a_date_has_no_time(tmp_path: Path) -> None:
    data = response("http://a.example/", html("x"), is_compressed=False)
    (found,) = records(warc(tmp_path, re.sub(rb"WARC-Date: [^\r]*", b"WARC-Date: long ago", data)))
    assert isinstance(found, Page)
    assert found.time is None


@pytest.mark.parametrize("is_compressed", [True, False])
def test_a_record_cut_short_costs_no_other(tmp_path: Path, is_compressed: bool) -> None:
    whole = [warc_of([one], is_compressed=is_compressed) for one in PAGES]
    cut = whole[1][: len(whole[1]) // 2]
    archive = warc(tmp_path, whole[0] + cut + whole[2] + whole[3])
    assert urls(archive) == [URLS[0], URLS[2], URLS[3]]
    (fault,) = [record for record in records(archive) if isinstance(record, Fault)]
    assert (records(archive).index(fault), fault.kind) == (1, "damaged")
    assert fault.place == f"byte {len(whole[0]):,}"


@pytest.mark.parametrize("is_compressed", [True, False])
def test_a_file_cut_short_is_read_up_to_there(tmp_path: Path, is_compressed: bool) -> None:
    data = warc_of(PAGES, is_compressed=is_compressed)
    archive = warc(tmp_path, data[:-40])
    assert urls(archive) == URLS[:3]
    assert [isinstance(record, Fault) for record in records(archive)] == [False] * 3 + [True]


def test_a_packed_record_cut_short_is_said_to_be_so(tmp_path: Path) -> None:
    """warcio only stops in its HTTP header, and says nothing."""
    whole, data = (warc_of(pages, is_compressed=True) for pages in (PAGES[:1], PAGES))
    last = [records(warc(tmp_path, data[: len(whole) + more]))[-1] for more in range(250, 400, 5)]
    found = {each.message for each in last if isinstance(each, Fault)}
    assert found == {"it ends before its Content-Length"}


@pytest.mark.parametrize("wrong", [-30, 30, 100_000])
def test_a_wrong_content_length_costs_that_record_alone(tmp_path: Path, wrong: int) -> None:
    records_ = [warc_of([one], is_compressed=False) for one in PAGES]
    length = re.search(rb"Content-Length: (\d+)\r\n", records_[1])
    assert length is not None
    changed = b"Content-Length: %d\r\n" % (int(length[1]) + wrong)
    data = [records_[0], records_[1].replace(length[0], changed, 1), *records_[2:]]
    assert urls(warc(tmp_path, b"".join(data))) == [URLS[0], URLS[2], URLS[3]]
    assert urls(warc(tmp_path, b"".join(map(gzip.compress, data)))) == [URLS[0], URLS[2], URLS[3]]


def test_rubbish_between_records_is_passed_over(tmp_path: Path) -> None:
    data = warc_of(PAGES[:1]) + b"\x00rubbish\x1f\x8b\x08" * 50 + warc_of(PAGES[1:])
    assert urls(warc(tmp_path, data)) == URLS


def test_a_file_that_is_no_warc_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="is not a WARC file: no record begins in it"):
        records(warc(tmp_path, b"<html>" * 1_000))


# A member whose deflated bytes repeat, so that warcio takes its end to lie before its beginning.
BACKWARDS = base64.b85decode(
    "ABzY8!Q26B1pif1VQbqk5dCh*f6(-~j_g3o>e`0UF;>>GQZfSjcC|0Is4N-jmNc**zmt>HDF{w?_ujjALYpto_bOjz"
    "i)6#MbbT1H5FW$mY`}97e20|&etsxKPc#<665n7L4XQKq5HnZV>L$%{J}fJy^JkIVJ4<Nkqz>a~bOWTFRZ(v4KcelZF"
    "U0lrB3UHsC-#<VCVu^xN0)?e#DlpL4?ZAOe`%Y3j?`Tx(aH=+@J^Q#KX#|Gg#jzM(;wp+mE7x=`l_97Fe|Ml4GkFbC"
    "_<VHmdCbYqdkh^A}iGqkd#K-SANYi=sf~K6@})0po77kBT5D0r)*Tvgv%y`h*zgxTo8?c5TcK<*Xo_nZOM(Yp0X3b&T"
    "-D<dAXo26>EH;4vvVqXesj5%?UB#=7}S89~>Cm66OW#;D;*3!@tSz;V@Tzf`3K2on!"
)


def test_a_record_that_ends_before_it_begins_is_damaged_and_not_read_for_ever(
    tmp_path: Path,
) -> None:
    archive = warc(tmp_path, BACKWARDS + warc_of(PAGES[:1]))
    assert [type(record) for record, _ in islice(archive.read(), 10)] == [Fault, Page]


def test_an_empty_file_has_no_records(tmp_path: Path) -> None:
    assert records(warc(tmp_path, b"")) == []


def test_one_stream_of_gzip_is_refused_with_its_remedy(tmp_path: Path) -> None:
    data = gzip.compress(warc_of(PAGES, is_compressed=False))
    with pytest.raises(ArchiveError, match=r"one stream of gzip.*warcio recompress"):
        records(warc(tmp_path, data))


@pytest.mark.parametrize("is_compressed", [True, False])
def test_a_copy_is_the_file_but_for_the_pages_left_out(tmp_path: Path, is_compressed: bool) -> None:
    whole = [warc_of([one], is_compressed=is_compressed) for one in PAGES]
    damaged = whole[0][:60]
    archive = warc(tmp_path, b"".join([*whole[:2], damaged, *whole[2:]]))
    archive.copy(tmp_path / "copy.warc.gz", {2, 5})
    assert (tmp_path / "copy.warc.gz").read_bytes() == whole[0] + damaged + whole[2]


def test_how_much_is_read_is_told_for_the_progress(tmp_path: Path) -> None:
    archive = warc(tmp_path, warc_of(PAGES))
    shares = [share for _, share in archive.read()]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_of_a_payload_that_unpacks_to_very_much_the_limit_is_read(tmp_path: Path) -> None:
    packs = {"gzip": gzip.compress, "br": brotli.compress, "zstd": zstd.compress}
    for coding, pack in packs.items():
        for packed in (pack(b" " * 20_000_000), pack(pack(b" " * 20_000_000))):
            headers = [("Content-Encoding", f"{coding},{coding}")]
            data = response("http://a.example/", packed, headers=headers)
            archive = dataclasses.replace(warc(tmp_path, data), max_page_bytes=1_000)
            (found,) = records(archive)
            assert isinstance(found, Page)
            assert len(found.source.html) == 1_001


@pytest.mark.parametrize("is_compressed", [True, False])
def test_an_endless_http_header_is_damage(tmp_path: Path, is_compressed: bool) -> None:
    headers = [("A", "b" + "\r\n b" * 300_000)]
    long = response("http://a.example/1", b"", headers=headers, is_compressed=is_compressed)
    good = response("http://a.example/2", b"<p>b", is_compressed=is_compressed)
    damaged, page = records(warc(tmp_path, long + good))
    assert isinstance(damaged, Fault)
    assert damaged.message == "its HTTP header has more than 65,536 bytes"
    assert isinstance(page, Page)


def test_lengths_beyond_the_file_are_not_read_to_its_end_each_time(tmp_path: Path) -> None:
    lie = b"WARC/1.0\r\nContent-Length: 999999999\r\n\r\n"
    found = records(warc(tmp_path, lie * 20_000))
    assert len(found) == 20_000
    assert {record.message for record in found if isinstance(record, Fault)} == {
        "it ends before its Content-Length"
    }
