/** Files dragged over the page: each drop target sends them to certain participants. */
import { signal } from '@preact/signals';
import { sendFiles } from './choose-files.js';

export const isDraggingFiles = signal(false);

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;

/** Depth of nested elements under the pointer. */
let depth = 0;

function setDepth(next: number) {
  depth = Math.max(0, next);
  isDraggingFiles.value = depth > 0;
}

/** Shows drop targets while files are dragged; elsewhere a drop must not replace the page. */
export function watchDrags(): void {
  addEventListener('dragenter', (event) => {
    if (hasFiles(event)) setDepth(depth + 1);
  });
  addEventListener('dragleave', (event) => {
    if (hasFiles(event)) setDepth(depth - 1);
  });
  addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer && !(event.target as Element).closest('[data-drop]')) event.dataTransfer.dropEffect = 'none';
  });
  addEventListener('drop', (event) => {
    if (hasFiles(event)) event.preventDefault();
    setDepth(0);
  });
}

/** Attributes of an element on which files are dropped for these participants, or for everyone. */
export const dropProps = (targetIds?: readonly string[]) => ({
  'data-drop': '',
  onDrop(event: DragEvent) {
    if (!hasFiles(event) || event.defaultPrevented) return;
    event.preventDefault();
    sendFiles([...(event.dataTransfer?.files ?? [])], targetIds ? [...targetIds] : undefined);
  },
});
