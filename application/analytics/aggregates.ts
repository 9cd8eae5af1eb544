/** Aggregate definitions of the analytics service. */
import { catalog } from '../../domain/analytics/catalog.js';
import { type LoginCommand, type LoginEvent, type LoginState, login } from '../../domain/analytics/login.js';
import { type ExpireDays, type Retention, type RetentionEvent, retention } from '../../domain/analytics/retention.js';
import { type SitesCommand, type SitesEvent, type SitesState, sites } from '../../domain/analytics/sites.js';
import {
  type VisitorDays,
  type VisitorsCommand,
  type VisitorsEvent,
  visitors,
} from '../../domain/analytics/visitor-keys.js';
import type { Aggregate } from '../command/index.js';

export const sitesAggregate: Aggregate<SitesState, SitesCommand, SitesEvent> = { catalog, decider: sites };

export const visitorsAggregate: Aggregate<VisitorDays, VisitorsCommand, VisitorsEvent> = {
  catalog,
  decider: visitors,
};

export const retentionAggregate: Aggregate<Retention, ExpireDays, RetentionEvent> = {
  catalog,
  decider: retention,
};

/** Login streams of unused addresses expire (`$maxAge`). */
export const loginAggregate: Aggregate<LoginState, LoginCommand, LoginEvent> = {
  catalog,
  decider: login,
  maxAge: true,
};
