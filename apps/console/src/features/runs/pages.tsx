export { ProjectPage } from './project';
export { ProjectsPage } from './projects';
export { ThreadPage } from './thread';
