import { readBodies } from '@fairlead/blobs';
import { readExamplesBody } from './read-examples';

readBodies(readExamplesBody);
