"""Consolidation (chapter 04, 4.3): conversations become memory. Triggers queue tasks, a task runs one pass
over a frozen transcript, and one transaction writes its results with the receipt."""
