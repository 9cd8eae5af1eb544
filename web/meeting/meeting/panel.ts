/** The panel beside the stage; on a phone it covers it. */
import { signal } from '@preact/signals';

export type Panel = 'people' | 'chat';

export const panel = signal<Panel | undefined>();

export function togglePanel(which: Panel): void {
  panel.value = panel.value === which ? undefined : which;
}
