/** All routes of the analytics service. */
import type { Route } from '../server/route.js';
import { type AuthRouteDeps, authRoutes } from './auth.js';
import { type CleanupRouteDeps, cleanupRoute } from './cleanup.js';
import { type CollectRouteDeps, collectRoute } from './collect.js';
import { dashboardRoutes } from './dashboard.js';
import { type LiveRouteDeps, liveRoute } from './live.js';
import { type PublicRouteDeps, publicRoutes } from './meta-routes.js';
import { type ReportRouteDeps, reportRoute } from './report.js';
import { type SiteRouteDeps, siteRoutes } from './sites.js';
import { trackerRoute } from './tracker.js';

export type AnalyticsDeps = CollectRouteDeps &
  SiteRouteDeps &
  ReportRouteDeps &
  LiveRouteDeps &
  AuthRouteDeps &
  CleanupRouteDeps &
  PublicRouteDeps;

export const analyticsRoutes = (deps: AnalyticsDeps): readonly Route[] => [
  ...publicRoutes(deps),
  ...authRoutes(deps),
  ...dashboardRoutes(),
  trackerRoute(),
  collectRoute(deps),
  ...siteRoutes(deps),
  reportRoute(deps),
  liveRoute(deps),
  cleanupRoute(deps),
];
