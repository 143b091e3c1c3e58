/**
 * Ids made from the position in the log: unique and ascending like that position, also after the log time was set back.
 *
 * Owns: the spelling of version ids and bucket ids. Rule: nothing here is random; every node makes the same id.
 */
import type { ApplyContext } from './view.ts'
import { assert } from './assert.ts'
import type { AccountId, BucketId, VersionId } from './record-ids.ts'

/** Crockford base32: no I, L, O, U, and its order is the order of ASCII. */
export const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** 5 bits per character: 48 bits of time fit in 10 characters, a safe integer in 11. */
const TIME_CHARACTERS = 10
const INDEX_CHARACTERS = 11
const ORDINAL_CHARACTERS = 5
/** Ids that one command may make. */
const ITEMS_MAX = 1024

type LogPosition = Pick<ApplyContext, 'index' | 'orderTime' | 'ordinal'>

/** 26 characters: time, log index, position in the entry and in the command. Looks and sorts like a ULID. */
export function versionIdAt(context: LogPosition, item = 0): VersionId {
  return base32(context.orderTime, TIME_CHARACTERS) + positionOf(context, item)
}

const ID_CHARACTERS = TIME_CHARACTERS + INDEX_CHARACTERS + ORDINAL_CHARACTERS
const VERSION_ID = new RegExp(`^[${BASE32}]{${ID_CHARACTERS}}$`)
/** No version is newer. */
export const VERSION_ID_MAX: VersionId = 'Z'.repeat(ID_CHARACTERS)

/** Whether `text` has the form of a version id; an id from a request is looked up only if it has. */
export function isVersionId(text: string): boolean {
  return VERSION_ID.test(text)
}

/** Its form distinguishes it from an object key. [decisions 16] */
export function uploadIdAt(context: LogPosition): string {
  return `mpu_${versionIdAt(context)}`
}

/** Ascends, so accounts are listed in the order of their creation. */
export function accountIdAt(context: LogPosition): AccountId {
  return `acc_${versionIdAt(context)}`
}

export function bucketIdAt(context: LogPosition): BucketId {
  return positionOf(context)
}

function positionOf({ index, ordinal }: Pick<LogPosition, 'index' | 'ordinal'>, item = 0): string {
  assert(item < ITEMS_MAX, 'a command makes at most ITEMS_MAX ids')
  return base32(index, INDEX_CHARACTERS) + base32(ordinal * ITEMS_MAX + item, ORDINAL_CHARACTERS)
}

/** By ten bits at a time: each command makes an id, and each character that is added makes a text. */
const PAIRS: readonly string[] = Array.from(
  { length: 32 ** 2 },
  (_, value) => BASE32.charAt(value >> 5) + BASE32.charAt(value & 31),
)

function base32(value: number, characters: number): string {
  assert(Number.isSafeInteger(value) && value >= 0, 'an id is made of whole numbers')
  let text = ''
  let rest = value
  let left = characters
  for (; left > 1; left -= 2) {
    text = (PAIRS[rest % 1024] ?? '') + text
    rest = Math.floor(rest / 1024)
  }
  if (left === 1) {
    text = BASE32.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  assert(rest === 0, 'the number fits its field; otherwise ids would stop ascending')
  return text
}
