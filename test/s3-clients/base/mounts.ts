/**
 * Whether this machine lets a test mount a folder, and whether it is mounted. Linux only.
 */
import { accessSync, constants, readFileSync } from 'node:fs'
import { programsNamed } from './programs.ts'

export function hasFuse(): boolean {
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK)
  } catch {
    return false
  }
  return programsNamed('fusermount', ['-V']).length + programsNamed('fusermount3', ['-V']).length > 0
}

export function isMounted(folder: string): boolean {
  return readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[1] === folder)
}
