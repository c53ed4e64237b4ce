"""The adaptive window, driven by hand and by simulated endpoints."""

from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.models.window import Window


def test_a_healthy_endpoint_keeps_the_whole_window():
    window = Window(64, 0)
    for turn in range(200):
        window.served(sent_s=turn, now_s=turn + 1, in_flight=64)
    assert window.size == 64


def test_the_first_refusal_halves_what_was_in_flight():
    window = Window(64, 0)
    window.refused(sent_s=1, now_s=2, in_flight=40)
    assert window.size == 20


def test_a_burst_of_refusals_leaves_what_the_endpoint_took():
    window = Window(500, 0)
    for in_flight in range(500, 16, -1):
        window.refused(sent_s=1, now_s=2, in_flight=in_flight)
    assert window.size == 16


def test_a_burst_of_silence_leaves_what_was_served_in_time():
    """160 of 500 were answered, after 0.05 to 1 second: 84 were in flight on average among those that got through."""
    window = Window(500, 0)
    for number in range(160):
        window.served(sent_s=0, now_s=0.05 + 0.95 * number / 159, in_flight=500 - number)
    for number in range(340):
        window.silent(sent_s=0, now_s=1.0, in_flight=340 - number)
    assert 80 < window.size < 90


def test_an_endpoint_that_answers_nobody_is_asked_by_one():
    window = Window(500, 0)
    for number in range(500):
        window.silent(sent_s=0, now_s=60, in_flight=500 - number)
    assert window.size == 1


def test_it_doubles_up_to_half_of_where_it_broke_and_then_grows_by_one_a_round():
    window = Window(1000, 0)
    for in_flight in range(64, 4, -1):
        window.refused(sent_s=0, now_s=1, in_flight=in_flight)
    sizes = []
    for turn in range(6):
        size = round(window.size)
        sizes.append(size)
        for _ in range(size):
            window.served(sent_s=2 + turn, now_s=3 + turn, in_flight=int(window.size))
    assert sizes == [4, 8, 16, 32, 33, 34]


def test_growth_needs_a_window_that_was_the_limit():
    window = Window(1000, 0)
    window.refused(sent_s=0, now_s=1, in_flight=100)
    before = window.size
    for turn in range(100):
        window.served(sent_s=2 + turn, now_s=3 + turn, in_flight=3)
    assert window.size == before


def test_a_late_refusal_of_the_same_burst_does_not_halve_again():
    window = Window(100, 0)
    window.refused(sent_s=1, now_s=5, in_flight=100)
    window.refused(sent_s=2, now_s=6, in_flight=90)
    assert window.size == 50
    window.refused(sent_s=7, now_s=8, in_flight=50)
    assert window.size == 25


EVENTS = st.lists(st.tuples(st.sampled_from(["served", "refused", "silent"]), st.integers(1, 64)), max_size=200)


@given(EVENTS)
def test_whatever_happens_it_stays_between_one_and_its_ceiling(events):
    window = Window(64, 0)
    for at, (what, in_flight) in enumerate(events):
        getattr(window, what)(sent_s=at - 0.5, now_s=float(at), in_flight=in_flight)
        assert 1 <= window.size <= 64
