/**
 * The event store client, loaded with `require`: for an ESM import Node would scan every file for export names
 * first.
 */
import library = require('@eventstore/db-client');

export const {
  ANY,
  AccessDeniedError,
  BACKWARDS,
  DeadlineExceededError,
  END,
  EventStoreDBClient,
  FORWARDS,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  NO_STREAM,
  RequiredMetadataPropertyMissingError,
  START,
  STREAM_EXISTS,
  StreamDeletedError,
  StreamNotFoundError,
  UnknownError,
  UnsupportedError,
  WrongExpectedVersionError,
  eventTypeFilter,
  jsonEvent,
  streamNameFilter,
} = library;
