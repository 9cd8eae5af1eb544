/** The kinds of streams of the analytics service, as the kernel takes them. */
import { catalog } from '../../domain/analytics/catalog.js';
import { type LoginCommand, type LoginEvent, type LoginState, login } from '../../domain/analytics/login.js';
import {
  type ExpireDays,
  type Retention,
  type RetentionEvent,
  retention,
} from '../../domain/analytics/retention.js';
import { type SitesCommand, type SitesEvent, type SitesState, sites } from '../../domain/analytics/sites.js';
import {
  type VisitorDays,
  type VisitorsCommand,
  type VisitorsEvent,
  visitors,
} from '../../domain/analytics/visitor-keys.js';
import type { Aggregate } from '../command/aggregate-store.js';

export const sitesKind: Aggregate<SitesState, SitesCommand, SitesEvent> = { catalog, decider: sites };

export const visitorsKind: Aggregate<VisitorDays, VisitorsCommand, VisitorsEvent> = {
  catalog,
  decider: visitors,
};

export const retentionKind: Aggregate<Retention, ExpireDays, RetentionEvent> = {
  catalog,
  decider: retention,
  saysAll: ({ type }) => type === 'DaysExpired',
};

/** An address that nobody signs in with any more is forgotten. */
export const loginKind: Aggregate<LoginState, LoginCommand, LoginEvent> = {
  catalog,
  decider: login,
  expires: true,
};
