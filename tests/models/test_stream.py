"""Streams put together from pieces, however they are cut and mixed."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.models.base import FinishReason
from mas_orchestra.models.reply import Unreadable
from mas_orchestra.models.stream import Assembly, EventSplitter
from mas_orchestra.types import ToolCall
from support.endpoint import delta


def assemble(*pieces, finish="tool_calls"):
    assembly = Assembly()
    for piece in (*pieces, delta(finish=finish)):
        assembly.add(orjson.dumps(piece))
    return assembly.reply()


def call(arguments=None, *, index=None, name=None, identity=None):
    """One piece with one piece of a tool call."""
    function = {key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None}
    piece = {key: value for key, value in {"index": index, "id": identity}.items() if value is not None}
    return delta(tool_calls=[piece | {"function": function}])


def arguments(reply):
    return [each.arguments for each in reply.choices[0].tool_calls]


class TestToolCalls:
    def test_two_calls_of_one_name_without_ids_interleaved_by_index(self):
        reply = assemble(
            call('{"q":', index=0, name="search"),
            call('{"q":', index=1, name="search"),
            call('"a"}', index=0),
            call('"b"}', index=1),
        )
        assert reply.choices[0].tool_calls == (
            ToolCall(id="call_1", name="search", arguments='{"q":"a"}'),
            ToolCall(id="call_2", name="search", arguments='{"q":"b"}'),
        )
        assert reply.choices[0].finish_reason is FinishReason.TOOL_CALLS

    def test_two_calls_in_one_slot_are_told_apart_by_their_ids(self):
        reply = assemble(
            call('{"q":', index=0, name="search", identity="x"),
            call('{"q":', index=0, name="search", identity="y"),
            call('"a"}', index=0, identity="x"),
            call('"b"}', index=0, identity="y"),
        )
        assert arguments(reply) == ['{"q":"a"}', '{"q":"b"}']

    def test_whole_calls_in_one_slot_without_ids_are_told_apart(self):
        reply = assemble(
            call('{"q":"a"}', index=0, name="search"),
            call('{"q":"b"}', index=0, name="search"),
        )
        assert arguments(reply) == ['{"q":"a"}', '{"q":"b"}']

    def test_whole_calls_without_index_and_id_are_told_apart(self):
        reply = assemble(call('{"q":"a"}', name="search"), call('{"q":"b"}', name="search"))
        assert arguments(reply) == ['{"q":"a"}', '{"q":"b"}']

    def test_pieces_in_one_slot_that_nothing_tells_apart_are_an_error(self):
        with pytest.raises(Unreadable, match="mixed"):
            assemble(
                call('{"q":', index=0, name="search"),
                call('{"q":', index=0, name="search"),
                call('"a"}', index=0),
                call('"b"}', index=0),
            )

    def test_pieces_without_index_that_nothing_tells_apart_are_an_error(self):
        with pytest.raises(Unreadable, match="mixed"):
            assemble(call('{"q":', name="search"), call('{"q":', name="search"), call('"a"}'), call('"b"}'))

    def test_a_call_that_never_gets_a_name_is_an_error(self):
        with pytest.raises(Unreadable, match="mixed"):
            assemble(call('{"q":"a"}', index=0))

    def test_name_and_id_in_every_piece_are_one_call(self):
        pieces = [call(part, index=0, name="search", identity="x") for part in ('{"q"', ':"a', '"}')]
        assert arguments(assemble(*pieces)) == ['{"q":"a"}']

    def test_a_name_repeated_without_ids_is_one_call(self):
        pieces = [call(part, index=0, name="search") for part in ('{"q"', ':"a', '"}')]
        assert arguments(assemble(*pieces)) == ['{"q":"a"}']

    def test_broken_arguments_of_the_model_are_its_own(self):
        assert arguments(assemble(call('{"q": oops', index=0, name="search", identity="x"))) == ['{"q": oops']

    def test_no_arguments_are_an_empty_object(self):
        assert arguments(assemble(call(index=0, name="now"))) == ["{}"]

    def test_arguments_as_an_object_are_written_out(self):
        assert arguments(assemble(call({"q": "a"}, index=0, name="search"))) == ['{"q":"a"}']

    @given(st.data())
    def test_any_order_of_pieces_with_an_index_gives_the_same_calls(self, data):
        texts = ['{"query": "first one"}', '{"query": "the second"}', '{"n": 3}']
        pieces = [
            [call(text[at : at + 4], index=number, name="search" if at == 0 else None) for at in range(0, len(text), 4)]
            for number, text in enumerate(texts)
        ]
        mixed = [pieces[number].pop(0) for number in range(3)]
        while any(pieces):
            mixed.append(data.draw(st.sampled_from([one for one in pieces if one])).pop(0))
        assert arguments(assemble(*mixed)) == texts


class TestChoices:
    def test_several_choices_are_ordered_by_index(self):
        reply = assemble(delta("b", index=1), delta("a", index=0), delta("B", index=1, finish="length"), finish="stop")
        assert [choice.content for choice in reply.choices] == ["a", "bB"]
        assert [choice.finish_reason for choice in reply.choices] == [FinishReason.STOP, FinishReason.LENGTH]

    def test_reasoning_is_kept_apart_under_either_name(self):
        reply = assemble(delta(reasoning="so "), delta(reasoning_content="far"), delta("42"), finish="stop")
        assert (reply.choices[0].content, reply.choices[0].reasoning) == ("42", "so far")

    def test_a_refusal_is_no_stop(self):
        reply = assemble(delta(refusal="I "), delta(refusal="cannot."), finish="stop")
        assert reply.choices[0].content == "I cannot."
        assert reply.choices[0].finish_reason is FinishReason.CONTENT_FILTER

    @pytest.mark.parametrize(
        "payload", [b"{", b"[]", b"3", b'{"choices": [3]}', b'{"choices":[{"delta":{"content":3}}]}']
    )
    def test_what_is_no_piece_is_an_error(self, payload):
        with pytest.raises(Unreadable):
            Assembly().add(payload)

    def test_the_end_is_announced_or_every_choice_has_its_reason(self):
        assembly = Assembly()
        assert not assembly.is_whole
        assembly.add(orjson.dumps(delta("4")))
        assert not assembly.is_whole
        assembly.add(orjson.dumps(delta(finish="stop")))
        assert assembly.is_whole
        announced = Assembly()
        announced.add(orjson.dumps(delta("4")))
        announced.add(b"[DONE]")
        assert announced.is_whole


TEXT = b'data: {"a": 1}\r\n\r\n: comment\nevent: x\ndata:{"b": "\xc3\xa9"}\n\ndata: [DONE]\n\n'


@given(st.lists(st.integers(1, 9), max_size=80))
def test_events_are_the_same_however_the_bytes_are_cut(lengths):
    splitter, found, at = EventSplitter(), [], 0
    for length in lengths:
        found += splitter.feed(TEXT[at : at + length])
        at += length
    found += splitter.feed(TEXT[at:]) + splitter.rest()
    assert found == [b'{"a": 1}', b'{"b": "\xc3\xa9"}', b"[DONE]"]


def test_a_last_line_without_its_end_is_not_lost():
    splitter = EventSplitter()
    assert splitter.feed(b"data: [DONE]") == []
    assert splitter.rest() == [b"[DONE]"]
