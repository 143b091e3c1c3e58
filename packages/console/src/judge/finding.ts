/**
 * One thing that was found, and how urgent it is. Pure.
 */

/** `notice`: it may be intended, and does not keep data from being called safe. */
export type Level = 'danger' | 'attention' | 'notice'

/** The most urgent first. */
export const LEVELS: readonly Level[] = ['danger', 'attention', 'notice']

export interface Finding {
  readonly level: Level
  readonly title: string
  readonly todo: string
  /** Where more of it is shown. */
  readonly screen: 'backups' | 'cluster' | 'operations'
  /** The member that can be replaced, or else brought back; null: there is no such one thing to do. */
  readonly replace: string | null
  /** Below /docs/. */
  readonly page: string | null
}

export type Said = readonly [title: string, todo: string]

export function finding(
  level: Level,
  [title, todo]: Said,
  screen: Finding['screen'],
  page: string | null = null,
): Finding {
  return { level, title, todo, screen, page, replace: null }
}
