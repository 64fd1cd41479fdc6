from report.table import aligned


def test_text_is_to_the_left_and_numbers_to_the_right():
    rows = [("name", "size", "about"), ("a", "12 kB", "[x]"), ("long", "~1 B", "")]
    assert list(aligned(rows)) == [
        "name   size  about",
        "a     12 kB  [x]",
        "long   ~1 B",
    ]
