/** Requests the report that is shown, with as many rows of each list as the service gives. */
import { api } from '../api.js';
import type { Report } from '../contract.js';
import type { LoadedReport } from '../state/report.js';

const MAX_ROWS = 1000;

export function fullReport({ site, report, filters }: LoadedReport, signal?: AbortSignal): Promise<Report> {
  const { start, end } = report.range;
  return api.report(site, { start, end }, { limit: MAX_ROWS, filters, ...(signal && { signal }) });
}
