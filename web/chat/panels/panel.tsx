/** A panel beside the place: the full window on a phone. */
import { X } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { IconButton } from '../../shared/components/button.js';
import { texts } from '../texts/workspace.js';
import { showPanel } from '../workspace/view.js';

interface PanelFrameProps {
  readonly title: string;
  readonly subtitle?: string;
  readonly children: ComponentChildren;
}

export const PanelFrame = ({ title, subtitle, children }: PanelFrameProps) => (
  <aside class="panel" aria-label={title}>
    <header class="panel-header">
      <h2>{title}</h2>
      {subtitle && <span class="quiet">{subtitle}</span>}
      <IconButton icon={X} label={texts.closePanel} onClick={() => showPanel(undefined)} />
    </header>
    {children}
  </aside>
);
