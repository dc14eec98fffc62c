from __future__ import annotations

import threading
import time

from crewsite.embeddings.priority import PriorityLock


def test_an_urgent_waiter_goes_before_patient_ones_that_came_earlier() -> None:
    lock = PriorityLock()
    order: list[str] = []

    def take(name: str, *, urgent: bool) -> None:
        with lock.hold(urgent=urgent):
            order.append(name)

    with lock.hold(urgent=False):
        threads = [
            threading.Thread(target=take, args=(f"patient {n}",), kwargs={"urgent": False}) for n in range(3)
        ]
        threads.append(threading.Thread(target=take, args=("urgent",), kwargs={"urgent": True}))
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 5
        while lock._urgent_waiting == 0 and time.monotonic() < deadline:
            time.sleep(0.001)
    for thread in threads:
        thread.join(5)
    assert order[0] == "urgent"
    assert len(order) == 4


def test_only_one_holds_it_and_an_error_releases_it() -> None:
    lock = PriorityLock()
    inside = 0
    most = 0

    def work(number: int) -> None:
        nonlocal inside, most
        for _ in range(50):
            with lock.hold(urgent=number % 2 == 0):
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert most == 1
    try:
        with lock.hold(urgent=False):
            raise KeyError
    except KeyError:
        pass
    with lock.hold(urgent=False):
        assert True
