"""People, workspaces, memberships, tokens and login links in admin. Of secrets only hashes exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

# Both register their pages when imported, so that they can be taken away below.
import axes.admin
import knox.admin  # noqa: F401
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from knox.models import get_token_model
from unfold.admin import TabularInline
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from crewsite.accounts.instructions import INSTRUCTIONS, instruction_record
from crewsite.accounts.models import ApiToken, LoginLink, Membership, Role, User, Workspace
from crewsite.accounts.selectors import sharing_problem
from crewsite.accounts.services import member_add, sharing_decide, token_revoke
from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin, SiteModelAdmin, admin_origin

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

for model in (get_token_model(), Group, AccessAttempt, AccessFailureLog, AccessLog):
    if admin.site.is_registered(model):
        admin.site.unregister(model)


@admin.register(AccessAttempt)
class AttemptAdmin(OperatorOnlyMixin, axes.admin.AccessAttemptAdmin, SiteModelAdmin):
    """Failed sign-ins that count; deleting one lets its person try again at once."""


@admin.register(AccessFailureLog)
class FailureAdmin(OperatorOnlyMixin, axes.admin.AccessFailureLogAdmin, SiteModelAdmin):
    pass


@admin.register(AccessLog)
class SignInAdmin(OperatorOnlyMixin, axes.admin.AccessLogAdmin, SiteModelAdmin):
    pass


class MembershipForm(forms.ModelForm):  # type: ignore[type-arg]
    """Refuses a membership that would open somebody else's memory, unless the operator confirms it here."""

    confirmed_by: User | None = None  # who sends the form
    confirm_sharing = forms.BooleanField(
        required=False,
        help_text="Let this person read the workspace's memory home without being a member there.",
    )

    class Meta:
        model = Membership
        fields = ["user", "workspace", "role"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Who is a member where is added and deleted; of a membership that is there, the role changes."""
        super().__init__(*args, **kwargs)
        for name in ("user", "workspace"):
            self.fields[name].disabled = bool(self.instance.pk)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        user, workspace = cleaned.get("user"), cleaned.get("workspace")
        # Beside a workspace that is edited, this is the workspace as its form has it.
        if user and workspace and not cleaned.get("confirm_sharing"):
            problem = sharing_problem(workspace, joining=user)
            if problem:
                raise forms.ValidationError(problem)
        return cleaned

    def save(self, commit: bool = True) -> Membership:  # noqa: FBT001, FBT002 - Django's
        membership: Membership = super().save(commit=False)
        if commit:
            membership = member_add(
                user=membership.user,
                workspace=membership.workspace,
                role=Role(membership.role),
                confirmed_by=self.confirmed_by if self.cleaned_data["confirm_sharing"] else None,
            )
        return membership


class WorkspaceForm(forms.ModelForm):  # type: ignore[type-arg]
    """Refuses a memory home that present members do not belong to, unless the operator confirms it here."""

    confirm_sharing = forms.BooleanField(
        required=False, help_text="Let members read the memory home without being members there."
    )

    class Meta:
        model = Workspace
        fields = [
            "name",
            "slug",
            "memory_home",
            "is_isolated",
            "time_zone",
            "language",
            "steering",
            "agent_prompt",
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        workspace = self.instance
        workspace.memory_home = cleaned.get("memory_home")
        workspace.is_isolated = bool(cleaned.get("is_isolated"))
        problem = sharing_problem(workspace) if workspace.pk else ""
        if problem and not cleaned.get("confirm_sharing"):
            raise forms.ValidationError(problem)
        return cleaned


class MembershipInline(TabularInline):
    model = Membership
    form = MembershipForm
    extra = 0
    autocomplete_fields = ["user"]


@admin.register(User)
class UserAdmin(OperatorOnlyMixin, DjangoUserAdmin, SiteModelAdmin):  # type: ignore[type-arg]
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "email", "is_active", "is_superuser", "last_login"]
    list_filter = ["is_active", "is_superuser"]
    filter_horizontal = []
    fieldsets = [
        (None, {"fields": ["username", "password"]}),
        ("Person", {"fields": ["first_name", "last_name", "email"]}),
        ("Rights", {"fields": ["is_active", "is_staff", "is_superuser"]}),
        ("Times", {"fields": ["last_login", "date_joined"]}),
    ]
    readonly_fields = ["last_login", "date_joined"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Their conversations would go with them. Whoever leaves is made inactive."""
        return False


@admin.register(Workspace)
class WorkspaceAdmin(OperatorOnlyMixin, SiteModelAdmin):
    form = WorkspaceForm
    list_display = ["name", "slug", "memory_home", "is_isolated", "time_zone", "language"]
    list_filter = ["is_isolated"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    list_select_related = ["memory_home"]
    inlines = [MembershipInline]

    def save_model(self, request: HttpRequest, obj: Workspace, form: Any, change: bool) -> None:  # noqa: FBT001
        if change:
            sharing_decide(obj, confirmed_by=cast("User", request.user))  # the form has asked
        super().save_model(request, obj, form, change)
        for name in INSTRUCTIONS:
            if name in form.changed_data:
                old, new = str(form.initial.get(name, "")), getattr(obj, name)
                instruction_record(obj, name, old=old, new=new, origin=admin_origin(request))

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:  # noqa: FBT001
        for member in formset.forms:
            member.confirmed_by = request.user
        super().save_formset(request, form, formset, change)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Its memory would go with it, past every tombstone."""
        return False


@admin.register(Membership)
class MembershipAdmin(OperatorOnlyMixin, SiteModelAdmin):
    form = MembershipForm
    list_display = ["user", "workspace", "role", "created_at"]
    list_filter = ["role", "workspace"]
    search_fields = ["user__username", "workspace__name"]
    autocomplete_fields = ["user", "workspace"]
    list_select_related = ["user", "workspace"]

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:  # noqa: FBT001
        form.confirmed_by = request.user
        obj.pk = form.save().pk


@admin.register(ApiToken)
class ApiTokenAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    """Made with `crew token create`, where their text is shown once."""

    list_display = ["name", "token_key", "user", "workspace", "scopes", "created", "expiry", "last_used_at"]
    fields = list_display
    search_fields = ["name", "user__username"]
    list_filter = ["workspace"]
    list_select_related = ["user", "workspace"]
    actions = ["revoke"]

    @admin.action(description="Revoke")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        tokens = list(queryset)
        for token in tokens:
            token_revoke(token)
        self.message_user(request, f"{len(tokens)} revoked.", messages.SUCCESS)


@admin.register(LoginLink)
class LoginLinkAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["user", "created_at", "expires_at", "used_at"]
    fields = list_display
    list_select_related = ["user"]
