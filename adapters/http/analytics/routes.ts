/** All routes of the analytics service. */
import type { Route } from '../server/route.js';
import { type AuthRouteDeps, authRoutes } from './auth.js';
import { type CollectRouteDeps, collectRoute } from './collect.js';
import { publicRoutes } from './public.js';
import { type ReportRouteDeps, reportRoutes } from './reports.js';
import { type SiteRouteDeps, siteRoutes } from './sites.js';

export type AnalyticsDeps = CollectRouteDeps &
  SiteRouteDeps &
  ReportRouteDeps &
  AuthRouteDeps & { readonly version: string };

export const analyticsRoutes = (deps: AnalyticsDeps): readonly Route[] => [
  ...publicRoutes(deps.version),
  ...authRoutes(deps),
  collectRoute(deps),
  ...siteRoutes(deps),
  ...reportRoutes(deps),
];
