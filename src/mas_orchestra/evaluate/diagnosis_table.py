"""The table of collapse diagnostics."""

from collections.abc import Mapping, Sequence

from mas_orchestra.evaluate.ablation import Fidelity
from mas_orchestra.evaluate.diagnostics import Diagnosis
from mas_orchestra.evaluate.figure_style import title
from mas_orchestra.evaluate.tables import Record, Table
from mas_orchestra.evaluate.wording import NONE, percent, share

__all__ = ["diagnosis_table"]


def diagnosis_table(
    diagnoses: Sequence[Diagnosis], fidelity: Mapping[str, Fidelity], *, is_simulated: bool
) -> Table | None:
    """One row a system that has plans, whole or broken."""
    shown = [one for one in diagnoses if one.plans or one.invalid]
    if not shown:
        return None
    return Table(
        name="diagnostics",
        title=title("Collapse diagnostics", is_simulated=is_simulated),
        headers=(
            "system", "plans", "direct answers", "whole-task delegation", "same prompt and a vote", "invalid plans",
            "faults", "unanimous first round", "ablation fidelity",
        ),
        rows=[_diagnosis_row(one, fidelity.get(one.entrant.label)) for one in shown],
        note=(
            "Whole-task delegation hands the question to one sub-agent. “Same prompt and a vote” is self-consistency "
            "by another name. Ablation fidelity is how often silencing one step changes the final answer; the "
            "control is how often it changes when nothing is silenced."
        ),
        records=[record for one in shown for record in _diagnosis_records(one, fidelity.get(one.entrant.label))],
    )  # fmt: skip


def _diagnosis_row(one: Diagnosis, fidelity: Fidelity | None) -> tuple[str, ...]:
    rounds = one.unanimity
    return (
        one.entrant.shown,
        f"{one.plans:,}",
        share(one.direct_answers, one.plans),
        share(one.whole_task, one.plans),
        share(one.degenerate, one.plans),
        share(one.invalid, one.read),
        ", ".join(f"{code} {count:,}" for code, count in one.fault_codes.items()) or NONE,
        f"{percent(rounds.share)} of {rounds.attempts:,} attempts" if rounds.attempts else NONE,
        "not measured"
        if fidelity is None
        else f"{share(fidelity.changed, fidelity.steps)}; control {share(fidelity.changed_anyway, fidelity.steps)}",
    )


def _diagnosis_records(one: Diagnosis, fidelity: Fidelity | None) -> list[Record]:
    """Long form: one count a line."""
    counts: list[tuple[str, str, int | float, int]] = [
        ("direct_answer", "", one.direct_answers, one.plans),
        ("whole_task_delegation", "", one.whole_task, one.plans),
        ("degenerate", "", one.degenerate, one.plans),
        ("invalid_plan", "", one.invalid, one.read),
        *(("fault_code", code, count, one.read) for code, count in one.fault_codes.items()),
        *(("agent", agent, count, sum(one.agents.values())) for agent, count in one.agents.items()),
        *(("steps", str(size), count, one.plans) for size, count in one.steps.items()),
        *(("width", str(size), count, one.plans) for size, count in one.widths.items()),
        *(("length", str(size), count, one.plans) for size, count in one.lengths.items()),
    ]
    if one.unanimity.attempts:
        agreed = one.unanimity.share * one.unanimity.attempts
        counts.append(("unanimous_first_round", "", agreed, one.unanimity.attempts))
    if fidelity is not None:
        counts.append(("ablation_changed", "", fidelity.changed, fidelity.steps))
        counts.append(("ablation_changed_anyway", "", fidelity.changed_anyway, fidelity.steps))
    return [
        {
            "system": one.entrant.label,
            "simulated": one.entrant.info.is_simulated,
            "measure": measure,
            "key": key,
            "count": count,
            "of": whole,
        }
        for measure, key, count, whole in counts
    ]
