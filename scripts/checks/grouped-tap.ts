/**
 * `tap` as a test file of a group gets it: the subtest of that file.
 *
 * Rule: loaded once for each file, under an address of its own, so that a file keeps its subtest.
 */
import { current } from './current-test.ts'

export default current
