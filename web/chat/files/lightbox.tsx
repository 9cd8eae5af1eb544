/** An image over the whole page; arrow keys go to the others of its message. */
import { ChevronLeft, ChevronRight, Download, X } from 'lucide-preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { IconButton } from '../../shared/components/button.js';
import { Failed, Loading } from '../../shared/components/states.js';
import { texts } from '../texts/workspace.js';
import { type Overlay, useWorkspace } from '../workspace/context.js';
import { useImage } from './message-files.js';

type Shown = Extract<Overlay, { kind: 'image' }>;

export function Lightbox({ shown }: { shown: Shown }) {
  const { overlay } = useWorkspace();
  const element = useRef<HTMLDialogElement>(null);
  const { placeId, images, index } = shown;
  const filename = images[index] ?? '';
  const { url, error } = useImage(placeId, filename, 'full');
  useLayoutEffect(() => {
    element.current?.showModal();
    return () => element.current?.close();
  }, []);

  const close = () => {
    overlay.value = undefined;
  };
  function go(step: number) {
    const next = index + step;
    if (next >= 0 && next < images.length) overlay.value = { ...shown, index: next };
  }

  return (
    <dialog
      ref={element}
      class="lightbox"
      aria-label={texts.imageOf(index + 1, images.length)}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') go(-1);
        if (key === 'ArrowRight') go(1);
      }}
      onClick={(event) => event.target === element.current && close()}
    >
      <header>
        <span>{texts.imageOf(index + 1, images.length)}</span>
        {url && (
          <a
            class="icon-button"
            href={url}
            download={filename}
            aria-label={texts.downloadImage}
            title={texts.downloadImage}
          >
            <Download class="icon" aria-hidden="true" />
          </a>
        )}
        <IconButton icon={X} label={texts.close} onClick={close} />
      </header>
      {url ? (
        <img src={url} alt={texts.imageOf(index + 1, images.length)} />
      ) : error ? (
        <Failed error={messageOf(error)} />
      ) : (
        <Loading />
      )}
      {images.length > 1 && (
        <>
          <IconButton icon={ChevronLeft} label={texts.previousImage} disabled={index === 0} onClick={() => go(-1)} />
          <IconButton
            icon={ChevronRight}
            label={texts.nextImage}
            disabled={index === images.length - 1}
            onClick={() => go(1)}
          />
        </>
      )}
    </dialog>
  );
}
