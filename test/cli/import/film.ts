/**
 * A large object of three parts, the smallest that a target takes.
 */
import { randomBytes } from 'node:crypto'
import type { ImportWorld } from './import-world.ts'

const MIB = 1024 * 1024
export const PART: number = 5 * MIB
export const BODY: Buffer = randomBytes(2 * PART + 17)
export const PARTS: readonly string[] = ['--part-size', '5MiB']
export const rangeOf = (part: number): string => {
  const start = (part - 1) * PART
  return `/photos/film bytes=${start}-${Math.min(BODY.length, start + PART) - 1}`
}

export async function isStored({ get }: ImportWorld): Promise<boolean> {
  const { bytes, status } = await get('photos/objects/film')
  return status === 200 && bytes.equals(BODY)
}
