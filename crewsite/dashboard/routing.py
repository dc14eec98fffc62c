from __future__ import annotations

from django.urls import path

from crewsite.dashboard.job_socket import JobsConsumer

websocket_urlpatterns = [path("ws/jobs/", JobsConsumer.as_asgi())]
