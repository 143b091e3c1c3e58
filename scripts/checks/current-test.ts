/**
 * Which subtest a group of test files runs now. Owns: only that. Until the first file loads it is the root.
 */
import { t, type Test } from 'tap'

export let current: Test = t

export function setCurrent(test: Test): void {
  current = test
}
