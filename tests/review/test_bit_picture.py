from simhash_pipeline.review.comparison import bit_picture


def test_set_bits_are_crosses_and_those_that_differ_are_marked() -> None:
    assert list(bit_picture(0x8000_0001_0F00_00FF, 0x8000_0001_0E00_00FF, 64)) == [
        "A  #....... ........ ........ .......#",
        "B  #....... ........ ........ .......#",
        "A  ....#### ........ ........ ########",
        "B  ....###. ........ ........ ########",
        "          ^",
    ]


def test_the_marks_are_as_many_as_the_bits_that_differ_and_stand_under_them() -> None:
    a, b = 0x2E9D55853ADB6CB9, 0x2E1D55852ADB2CB9
    rows = list(bit_picture(a, b, 64))
    marks = [row for row in rows if not row.startswith(("A", "B"))]
    assert sum(row.count("^") for row in marks) == (a ^ b).bit_count()
    for place, row in enumerate(rows):
        for column, mark in enumerate(row):
            if mark == "^":
                assert rows[place - 1][column] != rows[place - 2][column]
