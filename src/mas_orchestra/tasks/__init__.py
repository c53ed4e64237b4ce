"""Tasks: questions with reference answers, from published sets, files of one's own, or the MASBENCH generator.

Read `task` first, then `task_set` and `load` (the one entry). One loader a file; `rows` reads files, `columns` maps a
user's columns, `choices` writes options under a question.
"""

from mas_orchestra.tasks.task import Task
from mas_orchestra.tasks.task_set import TaskSet

__all__ = ["Task", "TaskSet"]
