/** Files dragged onto the page. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false;

/** Takes files dropped anywhere on the parent of an element; true while they are dragged over it. */
export function useFileDrop(element: RefObject<HTMLElement>, onFiles: (files: Iterable<File>) => void): boolean {
  const [isDropping, setDropping] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    const area = element.current?.parentElement;
    const onDragOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setDropping(true);
    };
    const onDragLeave = ({ relatedTarget }: DragEvent) => {
      if (!(relatedTarget instanceof Node && area?.contains(relatedTarget))) setDropping(false);
    };
    const onDrop = (event: DragEvent) => {
      setDropping(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      take.current(event.dataTransfer?.files ?? []);
    };
    area?.addEventListener('dragover', onDragOver);
    area?.addEventListener('dragleave', onDragLeave);
    area?.addEventListener('drop', onDrop);
    return () => {
      area?.removeEventListener('dragover', onDragOver);
      area?.removeEventListener('dragleave', onDragLeave);
      area?.removeEventListener('drop', onDrop);
    };
  }, []);
  return isDropping;
}

/** Refuses files that nothing on the page takes: the browser would open them in place of the page. */
export function refuseOtherDrops(): void {
  for (const type of ['dragover', 'drop'] as const)
    addEventListener(type, (event) => {
      if (event.defaultPrevented || !hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
    });
}
