"""How dates are written where a page does not say it, admin's lists before all: one way, as in the pages."""
