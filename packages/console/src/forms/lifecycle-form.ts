/**
 * A lifecycle rule as the fields of a form, and back. Pure.
 *
 * Rule: what a rule may contain is judged by the API, which names the field; here is only what cannot be sent at all.
 */
import type { DataOperations } from '../../../client/src/index.ts'
import { TEXT } from '../words/strings.ts'
import { tagsOf, textOfTags, wholeOf } from './fields.ts'
import { InputError } from './input-error.ts'

export type LifecycleRule = DataOperations['getBucketLifecycle']['answer']['rules'][number]

const SAYS = TEXT.lifecycle

export const EXPIRATIONS = ['never', 'days', 'date', 'markers'] as const
type Expiration = (typeof EXPIRATIONS)[number]

export interface LifecycleForm {
  readonly id: string
  readonly isEnabled: boolean
  readonly prefix: string
  readonly tags: string
  readonly above: string
  readonly below: string
  readonly expiration: Expiration
  readonly days: string
  readonly date: string
  readonly noncurrentDays: string
  readonly kept: string
  readonly abortDays: string
}

export const EMPTY_RULE: LifecycleForm = {
  id: '',
  isEnabled: true,
  prefix: '',
  tags: '',
  above: '',
  below: '',
  expiration: 'never',
  days: '',
  date: '',
  noncurrentDays: '',
  kept: '',
  abortDays: '',
}

const text = (value: number | undefined): string => (value === undefined ? '' : String(value))

export function formOf({
  id = '',
  status,
  filter = {},
  expiration,
  noncurrentVersionExpiration: noncurrent,
  abortIncompleteMultipartUpload: abort,
}: LifecycleRule): LifecycleForm {
  return {
    id,
    isEnabled: status === 'Enabled',
    prefix: filter.prefix ?? '',
    tags: textOfTags(filter.tags),
    above: text(filter.sizeGreaterThan),
    below: text(filter.sizeLessThan),
    expiration: expirationOf(expiration),
    days: text(expiration?.days),
    date: expiration?.date?.slice(0, 10) ?? '',
    noncurrentDays: text(noncurrent?.noncurrentDays),
    kept: text(noncurrent?.newerNoncurrentVersions),
    abortDays: text(abort?.daysAfterInitiation),
  }
}

function expirationOf(given: LifecycleRule['expiration']): Expiration {
  if (given?.days !== undefined) return 'days'
  if (given?.date !== undefined) return 'date'
  return given?.expiredObjectDeleteMarker === true ? 'markers' : 'never'
}

/** Throws InputError. */
export function ruleOf(form: LifecycleForm): LifecycleRule {
  const { id, isEnabled } = form
  const filter = filterOf(form)
  const expiration = expirationIn(form)
  const days = wholeOf(form.noncurrentDays, SAYS.noncurrentDays)
  const kept = wholeOf(form.kept, SAYS.kept)
  if (days === undefined && kept !== undefined) throw new InputError(SAYS.keptWithoutDays)
  const abort = wholeOf(form.abortDays, SAYS.abortDays)
  if (expiration === undefined && days === undefined && abort === undefined)
    throw new InputError(SAYS.doesNothing)
  return {
    ...(id.trim() === '' ? {} : { id: id.trim() }),
    status: isEnabled ? 'Enabled' : 'Disabled',
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
    ...(expiration === undefined ? {} : { expiration }),
    ...(days === undefined
      ? {}
      : {
          noncurrentVersionExpiration: {
            noncurrentDays: days,
            ...(kept === undefined ? {} : { newerNoncurrentVersions: kept }),
          },
        }),
    ...(abort === undefined ? {} : { abortIncompleteMultipartUpload: { daysAfterInitiation: abort } }),
  }
}

function filterOf({ prefix, tags, above, below }: LifecycleForm): NonNullable<LifecycleRule['filter']> {
  const given = tagsOf(tags)
  const sizeGreaterThan = wholeOf(above, SAYS.above)
  const sizeLessThan = wholeOf(below, SAYS.below)
  return {
    ...(prefix === '' ? {} : { prefix }),
    ...(given === undefined ? {} : { tags: given }),
    ...(sizeGreaterThan === undefined ? {} : { sizeGreaterThan }),
    ...(sizeLessThan === undefined ? {} : { sizeLessThan }),
  }
}

function expirationIn({ expiration, days, date }: LifecycleForm): LifecycleRule['expiration'] {
  switch (expiration) {
    case 'never':
      return undefined
    case 'markers':
      return { expiredObjectDeleteMarker: true }
    case 'date':
      if (!/^\d{4}-\d{2}-\d{2}$/.test(date.trim())) throw new InputError(SAYS.noDate)
      return { date: `${date.trim()}T00:00:00Z` }
    case 'days': {
      const count = wholeOf(days, SAYS.days)
      if (count === undefined) throw new InputError(SAYS.noDays)
      return { days: count }
    }
  }
}
