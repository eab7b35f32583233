"""The page in a real Chromium: what people see and do."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from ragkpi.wording import visible
from tests.cli.commandline import BM25, DENSE, FIXTURES, FUSION
from tests.questions.report.browser import (
    MISSING,
    browser,
    colours,
    complaints,
    requested,
    violations,
    width_of,
    window,
)

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

RUNS = (BM25, DENSE, FUSION)
ARGUMENTS = ("-m", "ndcg_cut.10", "-m", "P.5", "-m", "bor.10", "-N", "5000")
HOSTILE = (
    "<script>window.broken=1</script>",
    "</script><script>window.broken=1</script>",
    "\"'><img/src=x/onerror=window.broken=1>",
    "a\u202eb",
    "a\x7f\u200c\u061cb",  # of these, the second joins letters and hides nothing
    "&lt;b&gt;",
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Write the fixtures' page, and return its address."""
    folder = tmp_path_factory.mktemp("page")
    texts = ("--queries", "queries.tsv", "--pool", "first_stage.run", "--by", str(folder / "by"))
    (folder / "by").write_text("query,kind\nhd-01,first\nhd-02,first\nhd-03,other\n")
    path = folder / "report.html"
    command = ("report", *ARGUMENTS, *texts, "-o", str(path), "qrels.txt", *RUNS)
    environment = {**os.environ, "PYTHONPATH": str(FIXTURES.parents[1])}
    subprocess.run(
        [sys.executable, "-m", "ragkpi", *command], cwd=FIXTURES, env=environment, check=True
    )
    return path.as_uri()


@pytest.fixture
def page(driver, address):
    """Open the fixtures' page anew, and return its address."""
    driver.get_log("browser")
    go_to(driver, address)
    return address


def go_to(driver, address):
    """Load a page anew, and wait until it has drawn itself: a busy machine takes a while.

    An empty page goes first, since another `#` alone loads nothing. It is not about:blank, for
    which the driver does not wait: Chromium may then drop the page that follows, for ever.
    """
    driver.get("data:,")
    driver.get(address)
    for _ in range(1500):
        if driver.execute_script("return document.querySelector('#sections a, #back')"):
            return
        time.sleep(0.02)
    raise AssertionError(f"{address} is not drawn")


def text_of(driver, selector):
    """The text of the first such element, when there is one."""
    for _ in range(1500):
        if driver.find_elements("css selector", selector):
            break
        time.sleep(0.02)
    return driver.execute_script("return document.querySelector(arguments[0]).innerText", selector)


def texts_of(driver, selector):
    return driver.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText)", selector
    )


def click(driver, selector):
    driver.execute_script("document.querySelector(arguments[0]).click()", selector)


def draw_all(driver):
    """Let every chart be drawn, also those that are out of view."""
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    for _ in range(1500):
        if not driver.execute_script(
            "return [...document.querySelectorAll('.canvas')].some((one) => !one.children.length)"
        ):
            return
        time.sleep(0.02)
    raise AssertionError("a chart is not drawn")


def test_it_loads_without_a_network_and_without_complaints(driver, page):
    draw_all(driver)
    assert complaints(driver) == []
    asked = [url for url in requested(driver) if not url.startswith(("data:", "blob:"))]
    assert [url for url in asked if url.startswith("http")] == []
    assert page in asked
    assert len(texts_of(driver, "figure .canvas")) >= 6


def test_every_number_of_the_summary_is_that_of_eval(driver, page, ragkpi):
    arguments = ("-c", "--ci", "--format", "json", "qrels.txt", *RUNS)
    out = ragkpi("eval", *ARGUMENTS, *arguments, folder=FIXTURES).out
    expected = json.loads(out)["runs"]
    shown = driver.execute_script(
        "return [...document.querySelectorAll('td[data-measure]')].map((cell) =>"
        " [cell.dataset.run, cell.dataset.measure, cell.textContent])"
    )
    assert len(shown) == 9
    for place, measure, text in shown:
        run = expected[int(place)]
        low, high = run["intervals"][measure]
        interval = f" [{low:.4f}, {high:.4f}]" if measure == "ndcg_cut_10" else ""
        assert text == f"{run['values'][measure]:.4f}{interval}"


def test_a_pair_is_said_as_compare_says_it(driver, page, ragkpi):
    go_to(driver, f"{page}#a=fusion&b=bm25")
    arguments = ("compare", "-c", *ARGUMENTS, "--format", "json", "qrels.txt", FUSION, BM25)
    comparison = json.loads(ragkpi(*arguments, folder=FIXTURES).out)["comparison"]
    one = comparison["differences"][0]
    said = text_of(driver, "#compare-answer")
    assert said.startswith(f"bm25 against fusion by {one['measure']}: wins on {one['wins']} ")
    low, high = one["interval"]
    assert f"{one['difference']:+.4f} [{low:+.4f}, {high:+.4f}]" in said


def test_the_page_leads_with_the_best_run_and_says_what_is_tested(driver, page, ragkpi):
    arguments = ("compare", "-c", *ARGUMENTS, "--all-pairs", "--format", "json", "qrels.txt", *RUNS)
    pairs = json.loads(ragkpi(*arguments, folder=FIXTURES).out)["all_pairs"]
    assert text_of(driver, "#verdict").endswith(pairs["answer"][0])
    assert text_of(driver, "#summary-table tbody th .id") == "fusion"
    click(driver, "#summary-table thead th:nth-child(5) button")  # another measure
    assert "(exploratory, not tested)" in text_of(driver, "#verdict")
    assert texts_of(driver, "#summary-table tr.rule") == []


def test_the_verdict_is_read_first_and_what_it_rests_on_is_folded(driver, page, ragkpi):
    best_first = FUSION, DENSE, BM25
    options = "--first", "0", "--format", "json"
    arguments = ("holes", "-c", *ARGUMENTS, *options, "qrels.txt", *best_first)
    holes = json.loads(ragkpi(*arguments, folder=FIXTURES).out)
    assert text_of(driver, "#holes-body > :first-child") == " ".join(holes["answer"])
    folded = driver.execute_script(
        "return [...document.querySelectorAll('#holes-body details:not([open])')]"
        ".find((one) => one.textContent.startsWith('How this was computed')).textContent"
    )
    assert holes["explanation"]
    assert [line for line in holes["explanation"] if line not in folded] == []


def test_every_value_of_a_query_is_that_of_eval(driver, page, ragkpi):
    out = ragkpi(
        "eval", "-c", "-q", *ARGUMENTS, "--format", "json", "qrels.txt", *RUNS, folder=FIXTURES
    ).out
    expected = json.loads(out)["runs"]
    for measure in ("ndcg_cut_10", "P_5"):
        go_to(driver, f"{page}#m={measure}")
        rows = driver.execute_script(
            "return [...document.querySelectorAll('#heatmap tbody tr')].map((row) =>"
            " [...row.children].map((cell) => cell.innerText))"
        )
        heads = [text.split()[0] for text in texts_of(driver, "#heatmap thead th")][3:]
        assert len(rows) == 12
        for head, _, _, *cells in rows:
            query = head.split()[0]
            values = {run["name"]: f"{run['per_query'][query][measure]:.4f}" for run in expected}
            assert dict(zip(heads, cells, strict=True)) == values


def test_the_page_rounds_a_number_halfway_between_two_as_python_does(driver, ragkpi, tmp_path):
    """Of 32 documents n are relevant: 1/32 is 0.03125, which is written 0.0312."""
    shares = range(1, 33)
    qrels = [f"q{n} 0 d{place} {int(place <= n)}\n" for n in shares for place in range(1, 33)]
    run = [f"q{n} Q0 d{place} 0 {-place} t\n" for n in shares for place in range(1, 33)]
    (tmp_path / "qrels").write_text("".join(qrels))
    (tmp_path / "run").write_text("".join(run))
    done = ragkpi("report", "-o", "page.html", "-m", "P.32", "qrels", "run", folder=tmp_path)
    assert done.status == 0, done.err
    go_to(driver, (tmp_path / "page.html").as_uri())
    cells = texts_of(driver, "#heatmap tbody td")
    assert sorted(cells) == [f"{n / 32:.4f}" for n in shares]


def test_a_heading_sorts_by_click_and_by_key(driver, page):
    from selenium.webdriver.common.keys import Keys

    button = "#heatmap thead th:nth-child(4) button"
    values = "#heatmap tbody td:nth-child(4)"
    click(driver, button)
    falling = [float(text) for text in texts_of(driver, values)]
    assert falling == sorted(falling, reverse=True)
    assert driver.find_element("css selector", button).is_displayed()
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    rising = [float(text) for text in texts_of(driver, values)]
    assert rising == sorted(falling)
    head = driver.find_element("css selector", "#heatmap thead th:nth-child(4)")
    assert head.get_attribute("aria-sort") == "ascending"


def test_a_query_opens_with_both_rankings_and_a_link_opens_it_again(driver, page):
    go_to(driver, f"{page}#a=bm25&b=fusion")
    driver.execute_script(
        "[...document.querySelectorAll('#heatmap tbody a')]"
        ".find((one) => one.textContent === 'hd-03').click()"
    )
    assert "Query hd-03" in text_of(driver, "#query h2")
    assert text_of(driver, ".question") == "Can I export all tickets of one customer as CSV?"
    run = [line.split() for line in (FIXTURES / BM25).read_text().splitlines()]
    expected = [fields[2] for fields in run if fields[0] == "hd-03"]
    assert texts_of(driver, ".rankings > :first-child .card .id") == expected
    levels = {
        fields[2]: fields[3]
        for fields in (line.split() for line in (FIXTURES / "qrels.txt").read_text().splitlines())
        if fields[0] == "hd-03"
    }
    badges = texts_of(driver, ".rankings > :first-child .card .badge")
    for name, badge in zip(expected, badges, strict=True):
        assert badge.endswith(f"level {levels[name]}" if name in levels else "unjudged")
    link = driver.current_url
    go_to(driver, link)
    assert "Query hd-03" in text_of(driver, "#query h2")
    click(driver, "#back")
    assert driver.find_element("css selector", "#overview").is_displayed()


def test_missed_documents_come_with_their_rank_in_the_pool(driver, page):
    go_to(driver, f"{page}#a=bm25&b=fusion&q=hd-03")
    pool = [line.split() for line in (FIXTURES / "first_stage.run").read_text().splitlines()]
    ranks = {fields[2]: fields[3] for fields in pool if fields[0] == "hd-03"}
    rows = driver.execute_script(
        "return [...document.querySelectorAll('#query details table tbody tr')].map((row) =>"
        " [...row.children].map((cell) => cell.innerText))"
    )
    assert rows
    for document, badge, _, _, pool_rank in rows:
        assert badge.startswith("relevant")
        assert pool_rank == ranks.get(document, "not in it")


def test_hostile_ids_texts_and_names_stay_text(driver, ragkpi, tmp_path):
    qrels = "".join(f"q{i} 0 {name} 1\n" for i, name in enumerate(HOSTILE))
    run = "".join(f"q{i} Q0 {name} 1 1.0 t\n" for i, name in enumerate(HOSTILE))
    (tmp_path / "qrels").write_bytes(qrels.encode() + b"\xff\xfe 0 d\xff 1\n")
    (tmp_path / "<b>&\"run'").write_bytes(run.encode() + b"\xff\xfe Q0 d\xff 1 1.0 t\n")
    (tmp_path / "other").write_text(run)
    long = "long " * 300_000
    corpus = [{"_id": name, "text": f"</script>{name} <b>{long}"} for name in HOSTILE]
    lines = "".join(json.dumps(record) + "\n" for record in corpus)
    (tmp_path / "corpus.jsonl").write_text(lines)
    done = ragkpi(
        *("report", "-o", "page.html", "--corpus", "corpus.jsonl", "-m", "P.1"),
        *("qrels", "<b>&\"run'", "<script>window.broken++<script>=other"),
        folder=tmp_path,
    )
    assert done.status == 0, done.err
    assert (tmp_path / "page.html").stat().st_size < 8_000_000
    driver.get_log("browser")
    go_to(driver, (tmp_path / "page.html").as_uri())
    draw_all(driver)
    shown = driver.execute_script("return document.body.innerText")
    assert "<b>&\"run'" in shown
    assert r"\xff\xfe" in shown
    for place, name in enumerate(HOSTILE):
        go_to(driver, (tmp_path / "page.html").as_uri() + f"#q=q{place}")
        card = text_of(driver, ".card")
        assert visible(name) in card
        assert "of 1,500,0" in card  # how long the text is of which the beginning is shown
    assert driver.execute_script("return window.broken === undefined")
    assert complaints(driver) == []


def test_a_slice_filters_everything(driver, page):
    driver.execute_script(
        "const select = document.getElementById('slice');"
        "select.value = [...select.options].findIndex((one) => /first/.test(one.text));"
        "select.dispatchEvent(new Event('change'))"
    )
    queries = "return [...document.querySelectorAll('#heatmap tbody a')].map(e => e.innerText)"
    assert sorted(driver.execute_script(queries)) == ["hd-01", "hd-02"]
    assert "(exploratory, not tested)" in text_of(driver, "#verdict")
    assert "kind" in driver.execute_script("return decodeURIComponent(location.hash)")


def test_charts_and_controls_have_texts_for_who_does_not_see_them(driver, page):
    labels = driver.execute_script(
        "return [...document.querySelectorAll('.canvas')].map((one) => one.ariaLabel)"
    )
    assert labels
    assert all(re.search(r"\w{3}", label or "") for label in labels)
    unnamed = driver.execute_script(
        "return [...document.querySelectorAll('select, input, button')].filter((one) =>"
        " !one.closest('label') && !one.ariaLabel && !one.textContent.trim()).length"
    )
    assert unnamed == 0
    assert driver.execute_script(
        "return [...document.querySelectorAll('table')].every((one) => one.tHead && one.tBodies[0])"
    )


@pytest.mark.parametrize("fragment", ["", "#a=bm25&b=fusion&q=hd-03"], ids=["runs", "a query"])
def test_axe_has_nothing_to_complain_of(driver, address, fragment):
    """Every rule on the light page; on the dark one, which has the same elements, its colours."""
    for scheme, rules in (("light", None), ("dark", ["color-contrast", "link-in-text-block"])):
        with colours(driver, scheme):
            go_to(driver, address + fragment)
            draw_all(driver)
            assert violations(driver, rules) == {}


@pytest.mark.parametrize("width", [375, 800, 1280])
def test_nothing_is_wider_than_the_window(driver, page, width):
    with window(driver, width, 900):
        draw_all(driver)
        assert width_of(driver, width) <= width


def bottom_of(driver, selector):
    script = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
    return driver.execute_script(script, selector)


# Titles and names of curves that leave their card.
OUTSIDE = """return [...document.querySelectorAll("figure .title, figure li")].filter((one) => {
  const [text, card] = [one, one.closest("figure")].map((box) => box.getBoundingClientRect());
  return text.left < card.left || text.right > card.right || text.bottom > card.bottom
    || one.scrollWidth > one.offsetWidth;
}).map((one) => one.textContent)"""
LONG = "an-encoder-of-{family}.chunked-at-512.reranked-by-{number}.fused"


@pytest.mark.parametrize(("number", "most"), [(1, 2000), (8, 3700), (30, 3500), (80, 5200)])
def test_any_number_of_runs_is_led_by_the_best_one(driver, ragkpi, tmp_path, number, most):
    """Runs with long names: each retrieves the relevant document of some of twelve queries."""
    (tmp_path / "qrels").write_text("".join(f"q{query} 0 d{query} 1\n" for query in range(12)))
    names = [LONG.format(family="ab"[run % 2] * 9, number=run) for run in range(number)]
    for run, name in enumerate(names):
        lines = []
        for query in range(12):
            rank = (query * 7 + run) % (2 + run)
            documents = [f"d{query}" if at == rank else f"x{run}_{at}" for at in range(10)]
            lines += [f"q{query} Q0 {d} {at} {-at} r\n" for at, d in enumerate(documents)]
        (tmp_path / name).write_text("".join(lines))
    done = ragkpi("report", "-o", "page.html", "qrels", *names, folder=tmp_path)
    assert done.status == 0, done.err
    assert (tmp_path / "page.html").stat().st_size < 4_000_000
    with window(driver, 1280, 900):
        go_to(driver, (tmp_path / "page.html").as_uri())
        draw_all(driver)
        assert bottom_of(driver, "#verdict") < 300
        rows = texts_of(driver, "#summary-table tbody th > .id > :first-child, tbody th > .id")
        assert "reranked-by-0" in text_of(driver, "#summary-table tbody tr th .sr")
        shown = texts_of(driver, "#summary-table tbody tr")
        assert len(shown) == len(set(rows[:number])) == number
        assert driver.execute_script("return document.body.scrollHeight") <= most
        captions = "return [...document.querySelectorAll('figcaption')].map((e) => e.offsetHeight)"
        assert max(driver.execute_script(captions), default=0) < 70
        assert driver.execute_script(OUTSIDE) == []
    with window(driver, 375, 812):
        assert bottom_of(driver, "#verdict") < 812
        assert width_of(driver, 375) <= 375
        assert driver.execute_script(OUTSIDE) == []
        first = "return document.querySelector('#summary-table tbody th').offsetWidth"
        assert driver.execute_script(first) <= 0.45 * 375
        cut = "return [...document.querySelectorAll('#summary-table tbody th')].filter((one) =>"
        assert driver.execute_script(f"{cut} one.scrollWidth > one.offsetWidth).length") == 0
    assert complaints(driver) == []


def shows_values_without_documents(driver, page, query):
    driver.get_log("browser")
    go_to(driver, page.as_uri())
    draw_all(driver)
    sections = [text for text in texts_of(driver, "#sections a") if text]
    assert sections == ["Summary", "Compare two runs", "Values per query", "About these numbers"]
    go_to(driver, f"{page.as_uri()}#q={query}")
    assert text_of(driver, "#query .note") == "The page has no documents."
    assert complaints(driver) == []


def test_a_page_of_stored_results_shows_what_they_hold(driver, ragkpi, tmp_path):
    for name, run in (("one", BM25), ("two", FUSION)):
        stored = ("-c", "-q", "-m", "P.5", "-o", tmp_path / f"{name}.json", "qrels.txt", run)
        ragkpi("eval", *stored, folder=FIXTURES)
    done = ragkpi("report", "-o", "page.html", "one.json", "two.json", folder=tmp_path)
    assert done.status == 0, done.err
    shows_values_without_documents(driver, tmp_path / "page.html", "hd-03")


def test_a_page_of_scores_shows_what_they_hold(driver, ragkpi, tmp_path):
    rows = [f"q{n},{n / 12},{(n * 5 % 12) / 12}\n" for n in range(12)]
    (tmp_path / "t.csv").write_text("".join(["query,one,two\n", *rows]))
    done = ragkpi("report", "-o", "page.html", "--scores", "t.csv", folder=tmp_path)
    assert done.status == 0, done.err
    shows_values_without_documents(driver, tmp_path / "page.html", "q3")


def test_a_middle_click_can_open_a_query(driver, page):
    links = driver.execute_script(
        "return [...document.querySelectorAll('#heatmap tbody a')].map((one) => one.href)"
    )
    assert len(links) == 12
    go_to(driver, links[0])
    assert text_of(driver, "#query h2").startswith("Query ")


@pytest.mark.skipif(not shutil.which("pdftotext"), reason="no pdftotext")
def test_each_printed_page_of_a_table_names_its_columns(driver, ragkpi, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    names = [f"run{number}" for number in range(45)]
    for name in names:
        (tmp_path / name).write_text("q1 Q0 d1 1 1 r\nq2 Q0 d3 1 1 r\n")
    done = ragkpi("report", "-m", "P.1", "-o", "page.html", "qrels", *names, folder=tmp_path)
    assert done.status == 0, done.err
    go_to(driver, (tmp_path / "page.html").as_uri())
    draw_all(driver)
    printed = driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    (tmp_path / "page.pdf").write_bytes(base64.b64decode(printed["data"]))
    words = ["pdftotext", "-layout", tmp_path / "page.pdf", "-"]
    text = subprocess.run(words, capture_output=True, check=True).stdout.decode()
    pages = [page for page in text.split("\f") if re.search(r"(?m)^\S? *run\d+ .*0\.5000", page)]
    assert len(pages) > 1
    assert all(re.search(r"(?m)^Run .*\bP_1\b.*\bjudged@10", page) for page in pages)
