/** What somebody says, taken by itself. */
import { isSeen } from '../shared/text.js';
import type { Said } from './events/messages.js';

/** What is said by something that carries more. */
export const saidIn = ({ content, attachments, images, mentions, botName }: Said): Said => ({
  content,
  attachments,
  images,
  mentions,
  ...(botName !== undefined && { botName }),
});

export const isEmpty = ({ content, attachments, images }: Said): boolean =>
  !isSeen(content) && attachments.length === 0 && images.length === 0;

/** Of what is JSON, written alike. */
export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
