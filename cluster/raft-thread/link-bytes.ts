/**
 * The messages of a turn as the other thread gets them: all their bytes in one buffer that is moved, not copied once more.
 *
 * Owns: the layout. Knows nothing of: what the messages mean. Rule: a view is never cloned as it is, because a clone of a view takes
 * all the bytes of its buffer along, and that is often a frame of megabytes.
 */

export interface Parcel {
  readonly content: unknown
  /** Holds every view in `content`; null: there is none. */
  readonly buffer: ArrayBuffer | null
}

interface Size {
  views: number
  bytes: number
}

interface Place {
  readonly buffer: ArrayBuffer
  at: number
}

/** `content`: plain data, arrays and views of bytes. */
export function parcelOf(content: unknown): Parcel {
  const size: Size = { views: 0, bytes: 0 }
  measure(content, size)
  if (size.views === 0) return { content, buffer: null }
  const buffer = new ArrayBuffer(size.bytes)
  return { content: laidOut(content, { buffer, at: 0 }), buffer }
}

function measure(value: unknown, size: Size): void {
  if (typeof value !== 'object' || value === null) return
  if (value instanceof Uint8Array) {
    size.views += 1
    size.bytes += value.length
  } else if (Array.isArray(value)) {
    for (const item of value) measure(item, size)
  } else if (isPlain(value)) {
    for (const item of Object.values(value)) measure(item, size)
  }
}

function laidOut(value: unknown, place: Place): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) {
    const view = new Uint8Array(place.buffer, place.at, value.length)
    view.set(value)
    place.at += value.length
    return view
  }
  if (Array.isArray(value)) return value.map((item) => laidOut(item, place))
  if (!isPlain(value)) return value
  const copy: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(value)) copy[name] = laidOut(item, place)
  return copy
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
