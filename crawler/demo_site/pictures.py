"""Small drawings made of shapes only, one scene per section."""

from typing import Final
from zlib import crc32

_SKIES: Final = (
    ("#cfe3ee", "#2f5d7c", "#e8b04a"),
    ("#f3dfc8", "#7a4a3a", "#d9643a"),
    ("#d9e6d3", "#3f6a52", "#e3c75f"),
    ("#e4dcec", "#4f4a7d", "#f0a35e"),
)

_CRANES: Final = (
    '<path d="M70 150V60h90M90 60v90M160 60v30M70 75l20 0" fill="none" stroke="{dark}"'
    ' stroke-width="6"/><rect x="146" y="90" width="30" height="18" fill="{spot}"/>'
    '<path d="M40 147h140v28H40z" fill="{dark}"/><path d="M205 112h165l-22 38H228z" fill="{dark}"/>'
    '<path d="M250 90h26v22h-26zM280 90h26v22h-26zM318 76h24v36h-24z" fill="{spot}"/>'
    '<path d="M180 150q15-8 30 0t30 0 30 0 30 0 30 0 30 0 30 0 30 0v25H180z"'
    ' fill="{dark}" opacity=".5"/>'
)
_TOWN: Final = (
    '<path d="M20 170V90h40v-30h30v40h40V70l25-25 25 25v30h50V80h40v30h50V90h60v80z"'
    ' fill="{dark}"/><rect x="120" y="132" width="130" height="34" rx="8" fill="{spot}"/>'
    '<path d="M132 140h22v12h-22zM164 140h22v12h-22zM196 140h22v12h-22z" fill="#fff"/>'
)
_CLOUDS: Final = (
    '<path d="M90 110a28 28 0 0 1 30-40 38 38 0 0 1 70-6 30 30 0 0 1 36 46z" fill="#fff"/>'
    '<path d="M110 122l-10 26M150 122l-10 26M190 122l-10 26" stroke="{dark}" stroke-width="5"/>'
    '<path d="M0 170q100-40 200-10t200-12v27H0z" fill="{dark}"/>'
)
_STARS: Final = (
    '<path d="M40 170a160 130 0 0 1 320 0z" fill="{dark}"/><path d="M196 60l70-34 10 18-70 36z"'
    ' fill="{spot}"/><g fill="#fff"><circle cx="60" cy="40" r="3"/><circle cx="120" cy="26" r="4"/>'
    '<circle cx="320" cy="52" r="4"/><circle cx="350" cy="24" r="2"/></g>'
)
_TABLE: Final = (
    '<path d="M110 100h180q-6 62-90 62t-90-62z" fill="{dark}"/><path d="M160 84q-12-18 0-34M200'
    ' 84q-12-18 0-34M240 84q-12-18 0-34" fill="none" stroke="#fff" stroke-width="6"/>'
    '<path d="M96 96h208" stroke="{spot}" stroke-width="8"/>'
)
_BOAT: Final = (
    '<path d="M70 118h260l-26 24H100z" fill="{dark}"/><path d="M120 118l-30 42M190 118l-30 42M260'
    ' 118l-30 42" stroke="{spot}" stroke-width="5"/><g fill="{spot}"><circle cx="140" cy="100"'
    ' r="13"/><circle cx="205" cy="100" r="13"/><circle cx="270" cy="100" r="13"/></g>'
    '<path d="M0 150q25-10 50 0t50 0 50 0 50 0 50 0 50 0 50 0 50 0v25H0z" fill="{dark}"'
    ' opacity=".45"/>'
)
_STAGE: Final = (
    '<path d="M0 0h110q-10 90-60 175H0zM400 0H290q10 90 60 175h50z" fill="{dark}"/>'
    '<ellipse cx="200" cy="158" rx="120" ry="14" fill="{spot}"/><path d="M188 150V84l46-12v58"'
    ' fill="none" stroke="{dark}" stroke-width="6"/><circle cx="180" cy="150" r="11"'
    ' fill="{dark}"/>'
    '<circle cx="226" cy="132" r="11" fill="{dark}"/>'
)
_SHELF: Final = (
    '<path d="M50 148h300" stroke="{dark}" stroke-width="8"/><circle cx="112" cy="104" r="38"'
    ' fill="{dark}"/><circle cx="112" cy="104" r="29" fill="#fff"/><path d="M112 104V84m0 20l13 8"'
    ' stroke="{dark}" stroke-width="5"/><path d="M180 92h60v52h-60z" fill="{spot}"/><path d="M180'
    ' 112h60" stroke="{dark}" stroke-width="4"/><path d="M270 76h44v10h-6l10 16v42h-52v-42l10-16'
    'h-6z" fill="{dark}"/>'
)
_SCENES: Final = (
    (("port", "gangkou", "minato", "docs"), _CRANES),
    (("weather", "hant"), _CLOUDS),
    (("science", "kexue"), _STARS),
    (("food", "meishi", "living", "shenghuo"), _TABLE),
    (("shop",), _SHELF),
    (("sport", "tiyu"), _BOAT),
    (("culture", "wenhua"), _STAGE),
)


def picture(section: str, seed: str) -> str:
    """An inline SVG for a section; the seed (a slug) chooses its colours."""
    scene = next((scene for sections, scene in _SCENES if section in sections), _TOWN)
    sky, dark, spot = _SKIES[crc32(seed.encode()) % len(_SKIES)]
    sun_x = 60 + crc32(seed.encode()) % 280
    return (
        '<svg class="picture" viewBox="0 0 400 175" role="img" aria-hidden="true">'
        f'<rect width="400" height="175" fill="{sky}"/>'
        f'<circle cx="{sun_x}" cy="44" r="20" fill="{spot}" opacity=".8"/>'
        f"{scene.format(dark=dark, spot=spot)}</svg>"
    )
