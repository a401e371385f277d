#!/usr/bin/env node
import { runProgram } from './lib/program.mjs';

await runProgram('charon');
