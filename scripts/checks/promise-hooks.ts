/**
 * Takes the hook on every promise away from tap, with which it finds the subtest of an error that no test caught: it takes up to half of the processor time of
 * asynchronous tests.
 *
 * Owns: only that. Rule: loaded before tap, by a program that gives such errors to a test by itself.
 */
import hooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const { createHook } = hooks
hooks.createHook = (callbacks) => createHook(Object.assign({}, callbacks, { trackPromises: false }))
syncBuiltinESMExports()
