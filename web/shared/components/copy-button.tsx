/** Copies a text, and says so for two seconds. */
import { Check, Copy } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from './button.js';

const SHOWN_MS = 2000;

/** Works on plain `http` addresses, too, where browsers have no clipboard API. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  // Inside an open dialog, as what is outside of it takes no focus.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('The browser does not allow copying');
}

interface CopyButtonProps {
  readonly text: string;
  readonly label?: string;
  readonly copiedLabel?: string;
  readonly small?: boolean;
  readonly variant?: 'main';
}

export function CopyButton({ text, label = 'Copy', copiedLabel = 'Copied', small = true, variant }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <Button
      small={small}
      {...(variant && { variant })}
      icon={isCopied ? Check : Copy}
      onClick={() => copyText(text).then(() => setCopied(true))}
    >
      <span aria-live="polite">{isCopied ? copiedLabel : label}</span>
    </Button>
  );
}
