/** Prints values as the server does in error messages, for example `{ a: "x", b: 1.0 }`. */
import { doubleOf, longOf } from './number.js';
import { elementsOf, fieldsOf, int32, Type, textOf, type Value } from './value.js';

const hex = (value: Value, from = value.start): string => value.bytes.toString('hex', from, value.end);

export function show(value: Value): string {
  switch (value.type) {
    case Type.string:
      return `"${textOf(value)}"`;
    case Type.int:
      return String(int32(value.bytes, value.start));
    case Type.long:
      return String(longOf(value));
    case Type.double: {
      const double = doubleOf(value);
      return Number.isInteger(double) && Math.abs(double) < 1e15 ? double.toFixed(1) : String(double);
    }
    case Type.object: {
      const fields = fieldsOf(value).map((field) => `${field.name}: ${show(field)}`);
      return fields.length ? `{ ${fields.join(', ')} }` : '{}';
    }
    case Type.array: {
      const elements = elementsOf(value).map(show);
      return elements.length ? `[ ${elements.join(', ')} ]` : '[]';
    }
    case Type.objectId:
      return `ObjectId('${hex(value)}')`;
    case Type.boolean:
      return value.bytes[value.start] ? 'true' : 'false';
    case Type.date:
      return `new Date(${longOf(value)})`;
    case Type.timestamp:
      return `Timestamp(${value.bytes.readUInt32LE(value.start + 4)}, ${value.bytes.readUInt32LE(value.start)})`;
    case Type.binary:
      return `BinData(${value.bytes[value.start + 4]}, ${hex(value, value.start + 5).toUpperCase()})`;
    default:
      return 'null';
  }
}
