/** The sections of the settings, and who sees which. */
import {
  Bell,
  Download,
  KeyRound,
  type LucideIcon,
  MonitorSmartphone,
  ScrollText,
  ServerCog,
  UserRound,
  Users,
  Webhook,
} from 'lucide-preact';
import type { FunctionComponent } from 'preact';
import { NotificationsSection } from '../account/notifications-section.js';
import { PasswordSection } from '../account/password-section.js';
import { ProfileSection } from '../account/profile-section.js';
import { SessionsSection } from '../account/sessions-section.js';
import { AuditSection } from '../admin/audit-section.js';
import { ExportSection } from '../admin/export-section.js';
import { MembersSection } from '../admin/members-section.js';
import { ServerSection } from '../admin/server-section.js';
import { WebhooksSection } from '../admin/webhooks-section.js';
import type { User } from '../session.js';
import type { SignInConfig } from '../sign-in/config.js';
import { adminTexts } from '../texts/admin.js';
import { settingsTexts } from '../texts/settings.js';

export interface SectionProps {
  readonly user: User;
  readonly config: SignInConfig;
}

export interface Section {
  readonly group: 'account' | 'admin';
  /** Second segment of the address. */
  readonly id: string;
  readonly title: string;
  readonly icon: LucideIcon;
  readonly View: FunctionComponent<SectionProps>;
  readonly isAvailable?: (config: SignInConfig) => boolean;
}

const { profile, password, sessions, notifications } = settingsTexts;
const { members, webhooks, server, audit, export: exported } = adminTexts;

const ALL: readonly Section[] = [
  { group: 'account', id: 'profile', title: profile.title, icon: UserRound, View: ProfileSection },
  {
    group: 'account',
    id: 'password',
    title: password.title,
    icon: KeyRound,
    View: PasswordSection,
    isAvailable: ({ mode }) => mode === 'password',
  },
  { group: 'account', id: 'sessions', title: sessions.title, icon: MonitorSmartphone, View: SessionsSection },
  { group: 'account', id: 'notifications', title: notifications.title, icon: Bell, View: NotificationsSection },
  { group: 'admin', id: 'members', title: members.title, icon: Users, View: MembersSection },
  { group: 'admin', id: 'webhooks', title: webhooks.title, icon: Webhook, View: WebhooksSection },
  { group: 'admin', id: 'server', title: server.title, icon: ServerCog, View: ServerSection },
  { group: 'admin', id: 'audit', title: audit.title, icon: ScrollText, View: AuditSection },
  { group: 'admin', id: 'export', title: exported.title, icon: Download, View: ExportSection },
];

/** Sections that this user sees on this server. */
export const sectionsFor = ({ isAdmin }: User, config: SignInConfig): readonly Section[] =>
  ALL.filter(({ group, isAvailable }) => (group === 'account' || isAdmin) && (isAvailable?.(config) ?? true));
