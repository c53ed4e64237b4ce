"""BM25 in memory: what is found, in which order, with which passage, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.errors import FileFormatError, StepError
from mas_orchestra.search import BM25Retriever, Document, read_corpus
from mas_orchestra.search.bm25 import snippet, tokens


def corpus(*texts: str, **options) -> BM25Retriever:
    """Documents ``d0``, ``d1`` … with these texts."""
    return BM25Retriever([Document(id=f"d{at}", title="", text=text) for at, text in enumerate(texts)], **options)


async def ids(retriever: BM25Retriever, query: str, **options) -> list[str]:
    return [hit.document_id for hit in await retriever.search(query, **options)]


async def test_the_best_match_comes_first_and_what_matches_nothing_is_left_out():
    retriever = corpus("a cat sat", "the rare ocelot and the cat", "nothing of that kind")

    assert await ids(retriever, "rare cat") == ["d1", "d0"]


async def test_scores_fall_and_results_are_complete():
    retriever = BM25Retriever(
        [Document(id="a", title="Curie", text="physics"), Document(id="b", title="", text="curie x")]
    )

    hits = await retriever.search("CURIE")

    assert {hit.document_id for hit in hits} == {"a", "b"}
    assert hits[0].score >= hits[1].score > 0
    assert next(hit for hit in hits if hit.document_id == "a").title == "Curie"


async def test_equal_scores_keep_the_order_of_the_corpus():
    retriever = corpus(*["same words"] * 20)

    assert await ids(retriever, "words", limit=20) == [f"d{at}" for at in range(20)]


@pytest.mark.parametrize("limit", [0, 1, 2, 99])
async def test_there_are_at_most_as_many_results_as_asked_for(limit):
    assert len(await ids(corpus("x y", "x", "x z"), "x", limit=limit)) == min(limit, 3)


@pytest.mark.parametrize("query", ["", "   ", "?!", "…", "unknown"])
async def test_a_query_without_known_words_finds_nothing(query):
    assert await ids(corpus("some words"), query) == []


@pytest.mark.parametrize("texts", [(), ("",), ("...", "?!")])
async def test_a_corpus_without_words_finds_nothing(texts):
    assert await ids(corpus(*texts), "anything") == []


async def test_short_words_numbers_and_scripts_without_blanks_are_found():
    retriever = corpus("vitamin C", "the year 7", "東京は日本の首都です", "ÉCOLE centrale")

    assert await ids(retriever, "c") == ["d0"]
    assert await ids(retriever, "7") == ["d1"]
    assert await ids(retriever, "首都") == ["d2"]
    assert await ids(retriever, "école") == ["d3"]


async def test_a_document_is_opened_whole():
    document = Document(id="x", title="T", text="whole text", url="https://example.org")

    assert await BM25Retriever([document]).open("x") == document


async def test_an_unknown_document_is_said_to_be_unknown():
    with pytest.raises(StepError, match="no document 'nope'") as caught:
        await corpus("text").open("nope")

    assert caught.value.code == "unknown_document"


def test_two_documents_of_one_id_are_refused():
    with pytest.raises(FileFormatError, match="two documents of the corpus have the id 'x'"):
        BM25Retriever([Document(id="x", title="", text=""), Document(id="y", title="", text="")] * 2)


async def test_a_file_is_read_line_by_line(tmp_path):
    file = tmp_path / "corpus.jsonl"
    lines = [{"id": "a", "title": "T", "text": "first", "url": "u"}, {"id": 2, "text": "second", "more": [1]}]
    file.write_text("\ufeff" + "\r\n".join(json.dumps(line) for line in lines) + "\n\n", encoding="utf-8")

    retriever = BM25Retriever.from_jsonl(file)

    assert len(retriever) == 2
    assert await retriever.open("a") == Document(id="a", title="T", text="first", url="u")
    assert await ids(retriever, "second") == ["2"]


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path):
    file = tmp_path / "corpus.jsonl"
    file.write_text(json.dumps({"id": "a", "text": "one\u2028two"}, ensure_ascii=False), encoding="utf-8")

    assert read_corpus(file)[0].text == "one\u2028two"


def test_broken_lines_are_listed_with_their_numbers(tmp_path):
    file = tmp_path / "corpus.jsonl"
    file.write_text('{"id": "a", "text": "t"}\n{"id": "b"}\nnot json\n\n["list"]\n{"id": null, "text": "t"}\n')

    with pytest.raises(FileFormatError) as caught:
        read_corpus(file)

    message = str(caught.value)
    assert str(file) in message
    assert "4 lines are no documents" in message
    for part in ("line 2: text: Field required", "line 3: ", "line 5: ", "line 6: id: "):
        assert part in message
    assert "line 1:" not in message


def test_very_many_broken_lines_are_counted_and_not_all_listed(tmp_path):
    file = tmp_path / "corpus.jsonl"
    file.write_text("x\n" * 1_000)

    with pytest.raises(FileFormatError, match=r"1000 lines are no documents.*and 990 more"):
        read_corpus(file)


@pytest.mark.parametrize("content", [None, b"\xff\xfe broken"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, content):
    file = tmp_path / "corpus.jsonl"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(FileFormatError, match=r"corpus\.jsonl: the corpus cannot be read"):
        read_corpus(file)


def test_the_passage_holds_as_many_different_words_of_the_query_as_fit():
    text = "cat " * 30 + "filler " * 20 + "and here the rare ocelot meets a cat at last. " + "more " * 200

    passage = snippet(text, {"rare", "ocelot", "cat"}, length=80)

    assert "rare ocelot meets a cat" in passage
    assert passage.startswith("… ")
    assert passage.endswith(" …")


def test_without_a_match_the_passage_is_the_beginning():
    assert snippet("one two three", {"x"}, length=300) == "one two three"
    assert snippet("one two three four", {"x"}, length=9) == "one two …"
    assert snippet("", {"x"}, length=9) == ""


@given(st.text(alphabet="ab c\n東é"), st.sets(st.sampled_from(["a", "b", "ab", "東"])), st.integers(1, 40))
def test_a_passage_is_never_much_longer_than_asked_for_and_comes_from_the_text(text, words, length):
    passage = snippet(text, words, length=length)
    core = passage.removeprefix("… ").removesuffix(" …")

    assert len(core) <= length
    assert core in " ".join(text.split())


@given(st.lists(st.text(alphabet="abc ", max_size=20), max_size=8), st.text(alphabet="abc ", max_size=10))
async def test_exactly_the_documents_that_share_a_word_are_found(texts, query):
    expected = {f"d{at}" for at, text in enumerate(texts) if set(tokens(text)) & set(tokens(query))}

    assert set(await ids(corpus(*texts), query, limit=99)) == expected
