/**
 * Which screen is shown: the part of the address behind "#", so that back and bookmarks work and nothing is sent.
 */
import { signal } from '@preact/signals'

export const SCREENS = [
  'health',
  'charts',
  'cluster',
  'operations',
  'tenants',
  'objects',
  'backups',
  'audit',
] as const
/** Reached from other screens, without a place of their own in the list of sections. */
export const INNER_SCREENS = ['bucket', 'api'] as const
export type Section = (typeof SCREENS)[number]
export type Screen = Section | (typeof INNER_SCREENS)[number]

/** Which section is marked; null: none. */
const SECTION_OF = { bucket: 'objects', api: null } as const
export const sectionOf = (screen: Screen): Section | null =>
  screen === 'bucket' || screen === 'api' ? SECTION_OF[screen] : screen

export interface Place {
  readonly screen: Screen
  /** What of it, such as the id of a tenant; '' for the screen itself. */
  readonly item: string
  /** What inside of it, such as the prefix in a bucket; '' for all of it. */
  readonly inner: string
}

export const place = signal<Place>(read())

function read(): Place {
  const [, name = '', item = '', inner = ''] = location.hash.split('/')
  const screen = [...SCREENS, ...INNER_SCREENS].find((one) => one === name) ?? 'health'
  return { screen, item: decoded(item), inner: decoded(inner) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const linkTo = (screen: Screen, item = '', inner = ''): string =>
  [`#/${screen}`, ...(item === '' ? [] : [item]), ...(inner === '' ? [] : [inner])]
    .map((part, n) => (n === 0 ? part : encodeURIComponent(part)))
    .join('/')

/** Of the screen that is shown: `location.hash` is ahead of it until the page receives the change. */
export const addressShown = (): string => {
  const { screen, item, inner } = place.value
  return linkTo(screen, item, inner)
}

addEventListener('hashchange', () => {
  place.value = read()
})
