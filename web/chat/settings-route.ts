/** Which views are settings, shown over the workspace, which keeps the view it had. */
import { computed } from '@preact/signals';
import { href, navigate, route } from '../shared/route.js';

type Route = ReturnType<typeof route>;

export const SETTINGS = ['account', 'admin'] as const;

const isSettings = ({ path: [first] }: Route) => SETTINGS.some((each) => each === first);

let last: Route = { path: [], query: new URLSearchParams() };

/** The view of the workspace: the route, or the last one that was not of the settings. */
export const workspaceRoute = computed(() => {
  const current = route();
  if (!isSettings(current)) last = current;
  return last;
});

/** The path of the settings in view, for example `['admin', 'users']`; undefined without. */
export const settingsPath = computed(() => {
  const current = route();
  return isSettings(current) ? current.path : undefined;
});

/** Shows settings, for example `openSettings('account')` or `openSettings('admin', 'users')`. */
export const openSettings = (...path: readonly string[]): void => navigate(href(path));

export function closeSettings(): void {
  const { path, query } = workspaceRoute.value;
  navigate(href(path, Object.fromEntries(query)));
}
