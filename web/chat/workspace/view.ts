/** What is in view, from the address: a place, a panel beside it, and a message to jump to. */
import { computed } from '@preact/signals';
import { href, navigate } from '../../shared/route.js';
import { workspaceRoute } from '../settings-route.js';
import { isDirect } from '../state/chat-state.js';

export type Panel =
  | { readonly kind: 'thread'; readonly parentId: string }
  | { readonly kind: 'pins' | 'people' | 'threads' }
  | { readonly kind: 'search'; readonly text: string };

export interface View {
  /** Channel or conversation; undefined before one is chosen. */
  readonly placeId: string | undefined;
  readonly panel: Panel | undefined;
  /** Message to show. */
  readonly at: string | undefined;
  /** Reply to show in the thread. */
  readonly replyAt: string | undefined;
}

export const view = computed<View>(() => {
  const { path, query } = workspaceRoute.value;
  return {
    placeId: path[0] === 'channels' || path[0] === 'direct' ? path[1] : undefined,
    panel: panelOf(query),
    at: query.get('at') ?? undefined,
    replyAt: query.get('reply') ?? undefined,
  };
});

/** Keys of the timelines that are in view: of the place, and of an open thread. */
export function timelinesInView(): readonly string[] {
  const { placeId, panel } = view.peek();
  const thread = panel?.kind === 'thread' ? [panel.parentId] : [];
  return placeId === undefined ? thread : [placeId, ...thread];
}

function panelOf(query: URLSearchParams): Panel | undefined {
  const parentId = query.get('thread');
  if (parentId) return { kind: 'thread', parentId };
  const panel = query.get('panel');
  if (panel === 'search') return { kind: 'search', text: query.get('q') ?? '' };
  return panel === 'pins' || panel === 'people' || panel === 'threads' ? { kind: panel } : undefined;
}

interface Target {
  readonly panel?: Panel | undefined;
  readonly at?: string | undefined;
  readonly replyAt?: string | undefined;
}

export function addressOf(placeId: string, { panel, at, replyAt }: Target = {}): string {
  const query: { [name: string]: string } = {};
  if (panel?.kind === 'thread') query.thread = panel.parentId;
  else if (panel) query.panel = panel.kind;
  if (panel?.kind === 'search') query.q = panel.text;
  if (at !== undefined) query.at = at;
  if (replyAt !== undefined) query.reply = replyAt;
  return href([isDirect(placeId) ? 'direct' : 'channels', placeId], query);
}

export const show = (placeId: string, target?: Target, options?: { readonly replace: boolean }): void =>
  navigate(addressOf(placeId, target), options);

/** Opens a panel beside the place in view, or closes it. */
export function showPanel(panel: Panel | undefined): void {
  const { placeId, at } = view.peek();
  if (placeId !== undefined) show(placeId, { panel, ...(panel && { at }) });
}

/** Whether a panel covers the place, so that it has to close to show a message. */
const isPanelOver = (): boolean => matchMedia('(width <= 48rem)').matches;

/** Shows a message from a panel, which stays open where there is room. */
export const showFrom = (panel: Panel, placeId: string, at: string): void =>
  show(placeId, { at, panel: isPanelOver() ? undefined : panel });

/** Removes a message to jump to from the address, once it is in view. */
export function settle(messageId: string): void {
  const { placeId, panel, at, replyAt } = view.peek();
  if (placeId === undefined) return;
  const rest = { at: at === messageId ? undefined : at, replyAt: replyAt === messageId ? undefined : replyAt };
  show(placeId, { panel, ...rest }, { replace: true });
}
