/** A file in a message: images are shown and open larger, other files are saved; progress while parts are missing. */
import { Download, File as FileIcon } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../../shared/components/dialog.js';
import { Icon } from '../../shared/components/icon.js';
import type { SharedFile } from '../conversation.js';
import { contentOf, isImage } from '../files.js';
import { byteSize } from '../format.js';
import { texts } from '../texts.js';

const words = texts.message;

/** Address of the content, revoked when it is no longer shown. */
function useAddress(file: SharedFile): string | undefined {
  const isComplete = file.parts.every((part) => part !== undefined);
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const content = isComplete ? contentOf(file) : undefined;
    if (!content) return;
    const created = URL.createObjectURL(content);
    setAddress(created);
    return () => URL.revokeObjectURL(created);
  }, [isComplete]);
  return address;
}

export function FileView({ file }: { file: SharedFile }) {
  const { name, type, size } = file.head;
  const address = useAddress(file);
  const done = file.parts.filter((part) => part !== undefined).length;
  if (!address)
    return (
      <div class="file" aria-busy="true">
        <Icon of={FileIcon} />
        <span class="file-name">{name}</span>
        <progress aria-label={words.receiving(done, file.parts.length)} value={done} max={file.parts.length} />
      </div>
    );
  if (isImage(type)) return <Picture file={file} address={address} />;
  return (
    <a class="file" href={address} download={name} title={words.save(name)}>
      <Icon of={FileIcon} />
      <span class="file-name">{name}</span>
      <span class="quiet">{byteSize(size)}</span>
      <Icon of={Download} />
    </a>
  );
}

/** Opens in a dialog, from which it can be saved. */
function Picture({ file, address }: { file: SharedFile; address: string }) {
  const { name, width, height } = file.head;
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <button type="button" class="picture" aria-label={words.openImage(name)} onClick={() => setOpen(true)}>
        <img src={address} alt={words.imageOf(name)} {...(width && height && { width, height })} />
      </button>
      {isOpen && (
        <Dialog title={name} wide closeLabel={texts.close} onClose={close}>
          <img class="opened-picture" src={address} alt={words.imageOf(name)} />
          <div class="dialog-actions">
            <a class="save-link" href={address} download={name}>
              <Icon of={Download} />
              {words.save(name)}
            </a>
          </div>
        </Dialog>
      )}
    </>
  );
}
