/** Share 6 of the hunts over all mutants. */
import t from 'tap'
import { huntShare } from './hunt-share.ts'

huntShare(t, 6)
