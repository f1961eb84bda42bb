from tests.quality.without import HEADERS, PAGE, RULES, owners_of


def test_the_table_of_the_document_names_every_rule() -> None:
    head = f"| {HEADERS.split(',')[0]} "
    lines = PAGE.read_text(encoding="utf-8").partition(head)[2].partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert [line[0] for line in cells] == [*RULES]


def test_every_rule_is_called_by_the_name_that_takes_it_away() -> None:
    assert all(owners_of(name) for name, _ in RULES.values())
