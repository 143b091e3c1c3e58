/**
 * Reads a drawn QR code with a decoder that shares nothing with what drew it.
 */
import decodeQR from 'qr/decode.js'

/** Pixels of a module. */
const SCALE = 4
const RUN = /M(\d+) (\d+)h(\d+)v1h-\d+z/g

/** `size`: modules of a side, with the quiet zone. `path`: rectangles of dark modules. */
interface DrawnCode {
  readonly size: number
  readonly path: string
}

export interface ShownCode extends DrawnCode {
  /** Of modules and of what is behind them, as browsers state them. */
  readonly dark: string
  readonly light: string
}

interface Element {
  getAttribute(name: string): string | null
  querySelector(selector: string): Element | null
}

interface PageGlobals {
  readonly document?: Element
  getComputedStyle?(element: Element): { readonly fill: string; readonly backgroundColor: string }
}

/** Runs in the page: the code that an open dialog shows under this name; null: none. */
export function shownCode(name: string): ShownCode | null {
  const page = globalThis as PageGlobals
  const image = page.document?.querySelector(`dialog[open] svg[role="img"][aria-label="${name}"]`)
  const path = image?.querySelector('path')
  if (!image || !path || page.getComputedStyle === undefined) return null
  return {
    size: Number(image.getAttribute('viewBox')?.split(' ').at(-1)),
    path: path.getAttribute('d') ?? '',
    dark: page.getComputedStyle(path).fill,
    light: page.getComputedStyle(image).backgroundColor,
  }
}

/** Throws where no code is found, or where the path draws more. */
export function textOfCode({ size, path }: DrawnCode): string {
  if (path.replace(RUN, '') !== '') throw new Error('The path draws more than dark modules')
  const side = size * SCALE
  const data = new Uint8Array(side * side * 3).fill(255)
  for (const run of path.matchAll(RUN)) {
    const [x = 0, y = 0, length = 0] = run.slice(1).map((figure) => Number(figure) * SCALE)
    for (let row = y; row < y + SCALE; row++)
      data.fill(0, (row * side + x) * 3, (row * side + x + length) * 3)
  }
  // The decoder limits the time of its further attempts to that of a frame of a camera.
  return decodeQR({ width: side, height: side, data }, { timeLimit: Number.POSITIVE_INFINITY })
}
