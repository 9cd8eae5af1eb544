/** The kinds of streams of the chat, as the kernel takes them. */
import { catalog } from '../../domain/chat/catalog.js';
import { type RosterCommand, type RosterEvent, type RosterState, roster } from '../../domain/chat/roster.js';
import { type RenameServer, type ServerEvent, type ServerState, server } from '../../domain/chat/server.js';
import {
  type SessionCommand,
  type SessionEvent,
  type SessionsState,
  session,
} from '../../domain/chat/session.js';
import type { Aggregate } from '../command/streams.js';

export const rosterKind: Aggregate<RosterState, RosterCommand, RosterEvent> = { catalog, decider: roster };

export const sessionKind: Aggregate<SessionsState, SessionCommand, SessionEvent> = {
  catalog,
  decider: session,
  expires: true,
};

export const serverKind: Aggregate<ServerState, RenameServer, ServerEvent> = { catalog, decider: server };
