/**
 * Another name for the door of the loopback adapter; the class is in loopback-transport.ts beside its transport.
 */
export { LoopbackNetwork } from './loopback-transport.ts'
