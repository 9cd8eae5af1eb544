/** Icons are components of `lucide-preact`, given as values, so that each page contains only its own. */
import type { LucideIcon } from 'lucide-preact';

export type IconType = LucideIcon;

/** An icon beside a text or with a label of its button; screen readers skip it. */
export const Icon = ({ of: Shape }: { of: IconType }) => <Shape class="icon" aria-hidden="true" />;
